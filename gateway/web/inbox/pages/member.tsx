import type { JSX } from 'hono/jsx/jsx-runtime';
import { ROLE_RULES } from '../../../../shared/rules/roles.ts';
import { Icon } from '../../pages/icons.tsx';
import { AgentText, Ago } from '../../pages/request-copy.tsx';
import { openFlash } from '../flash.ts';
import { MEMBER_STATES, memberOf, type Member } from '../member-queries.ts';
import { Chip, Fact } from '../parts.tsx';
import type { ActionResult, PageContext, PageResult } from '../page-context.ts';

/** One member. */
export async function showMember(context: PageContext, id: string): Promise<PageResult> {
  const member = await memberOf(context, id);
  const flash = openFlash(context, id);
  const content = (
    <div class="narrow stack">
      <p>
        <a class="up" href={context.at('members')} data-up>
          ← All members
        </a>
      </p>
      <MemberHeading member={member} />
      {typeof flash === 'string' && <Flash flash={flash} />}
      <About context={context} member={member} />
    </div>
  );
  return { title: member.address ?? 'Member', content };
}

/** Nothing can be done to a member yet. */
export function actOnMember(
  context: PageContext,
  id: string,
  _body: string,
): Promise<ActionResult> {
  return Promise.resolve({ to: context.at('members', id) });
}

const FLASHES: Readonly<Record<string, string>> = {
  sent: 'We emailed an invitation. It’s good for 7 days.',
  asked: 'An owner is asked first: see Requests. Nothing changes until they approve.',
};

function Flash({ flash }: { readonly flash: string }): JSX.Element | null {
  const text = FLASHES[flash];
  if (text === undefined) return null;
  return (
    <div class="note good" role="status">
      <Icon name="yes" />
      <p>{text}</p>
    </div>
  );
}

function MemberHeading({ member }: { readonly member: Member }): JSX.Element {
  const { text, tone } = MEMBER_STATES[member.status];
  return (
    <div class="heading">
      <div>
        <h1>
          <AgentText text={member.address ?? 'no address'} reading="exact" />
        </h1>
        <p class="lead">
          {member.role} <Chip text={text} tone={tone} />
        </p>
      </div>
    </div>
  );
}

function About({
  context,
  member,
}: {
  readonly context: PageContext;
  readonly member: Member;
}): JSX.Element {
  const { created_at: created, expires_at: expires, joined_at: joined } = member;
  return (
    <section class="card" aria-label="About this member">
      <dl class="facts">
        <Fact name="May">{ROLE_RULES[member.role].summary}</Fact>
        <Fact name="Keys have at most">
          <span class="mono">{ROLE_RULES[member.role].scopes.join(', ')}</span>
        </Fact>
        <Fact name="Invited">
          <Ago at={Date.parse(created)} now={context.now} />
        </Fact>
        {expires !== null && (
          <Fact name="Invitation expires">
            <Ago at={Date.parse(expires)} now={context.now} />
          </Fact>
        )}
        <Fact name="Joined">
          {joined === null ? 'not yet' : <Ago at={Date.parse(joined)} now={context.now} />}
        </Fact>
        <Fact name="Id">
          <span class="exact mono">{member.id}</span>
        </Fact>
      </dl>
    </section>
  );
}
