import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../shared/lib/errors.ts';
import { memberRemove } from '../../../../shared/operations/member/remove.ts';
import { memberRole } from '../../../../shared/operations/member/role.ts';
import { ROLE_RULES } from '../../../../shared/rules/roles.ts';
import { Icon } from '../../pages/icons.tsx';
import { AgentText, Ago } from '../../pages/request-copy.tsx';
import { confirm } from '../confirm.tsx';
import { Choice } from '../fields.tsx';
import { openFlash, sealFlash } from '../flash.ts';
import {
  asksOwner,
  memberOf,
  MEMBER_STATES,
  ROLE_CHOICES,
  type Member,
} from '../member-queries.ts';
import { Chip, Fact, Form, Problem, UpLink } from '../parts.tsx';
import { fieldsOf, refusalOf } from '../refusal.ts';
import type { ActionResult, PageContext, PageResult } from '../page-context.ts';

/** One member, and what the visitor may change about them. */
export async function showMember(context: PageContext, id: string): Promise<PageResult> {
  const member = await memberOf(context, id);
  return context.query('step') === 'remove' && mayEnd(context, member)
    ? askToRemove(context, member)
    : shown(context, member);
}

/** Changes the role, sends an invitation again, or removes the member. */
export async function actOnMember(
  context: PageContext,
  id: string,
  body: string,
): Promise<ActionResult> {
  const member = await memberOf(context, id);
  const form = fieldsOf(body, ['act', 'role']);
  try {
    switch (form?.act) {
      case 'role':
        return told(
          context,
          id,
          await context.call(memberRole, { member_id: id, role: form.role }),
        );
      case 'remove':
        return removed(context, member);
      default: {
        const problem = 'We couldn’t read the form. Nothing was done.';
        return { ...shown(context, member, problem), status: 400 };
      }
    }
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'SCOPE_MISSING') {
      return { ...shown(context, member, error.hint), status: 403 };
    }
    const { status, text, fields } = refusalOf(error, ['role']);
    return { ...shown(context, member, text ?? fields['role'] ?? null), status };
  }
}

async function removed(context: PageContext, { id }: Member): Promise<ActionResult> {
  const answer = await context.call(memberRemove, { member_id: id });
  if ((answer as Changed).request_id !== null) return told(context, id, answer);
  // Whoever left sees nothing here any more.
  return { to: id === context.access.member?.id ? context.root : context.at('members') };
}

interface Changed {
  readonly request_id: string | null;
}

function told(context: PageContext, id: string, answer: unknown): ActionResult {
  const flash = (answer as Changed).request_id === null ? 'done' : 'asked';
  return { to: `${context.at('members', id)}?told=${sealFlash(context, id, flash)}` };
}

/** Whether the visitor may remove this member; the operation knows the rest. */
function mayEnd({ access }: PageContext, { id }: Member): boolean {
  return access.scopes.includes('admin') || access.member?.id === id;
}

function askToRemove(context: PageContext, member: Member): PageResult {
  const isOwn = member.id === context.access.member?.id;
  return confirm(context, {
    heading: isOwn ? 'Leave this project?' : 'Remove this member?',
    back: context.at('members', member.id),
    consequences: (
      <p>
        {isOwn ? 'Your' : 'Their'} keys, the keys those made, web sessions, links and buttons stop
        working at once, and replicas on {isOwn ? 'your' : 'their'} machines are erased. Requests
        that wait there go to an owner.
      </p>
    ),
    act: 'remove',
    yes: isOwn ? 'Yes, leave' : 'Yes, remove them',
  });
}

function shown(context: PageContext, member: Member, problem: string | null = null): PageResult {
  const flash = openFlash(context, member.id);
  const content = (
    <div class="narrow stack">
      <UpLink href={context.at('members')}>All members</UpLink>
      <MemberHeading member={member} />
      <Problem text={problem} />
      {typeof flash === 'string' && <Flash flash={flash} />}
      <About context={context} member={member} />
      <Changes context={context} member={member} />
    </div>
  );
  return { title: member.address ?? 'Member', content };
}

function Changes({
  context,
  member,
}: {
  readonly context: PageContext;
  readonly member: Member;
}): JSX.Element | null {
  if (!mayEnd(context, member)) return null;
  const isOwn = member.id === context.access.member?.id;
  const asks = asksOwner(context, member.role);
  return (
    <section class="card stack" aria-labelledby="change">
      <h2 id="change">Change</h2>
      {context.access.scopes.includes('admin') && (
        <Form context={context}>
          <Choice
            name="role"
            label="Role"
            value={member.role}
            choices={ROLE_CHOICES}
            hint={asks && 'An owner is asked before this takes effect.'}
          />
          <button class="btn small" name="act" value="role">
            Save role
          </button>
        </Form>
      )}
      {member.status === 'invited' && (
        <p class="soft">To send the invitation again, invite the same address once more.</p>
      )}
      <a class="btn small no" href="?step=remove">
        {isOwn ? 'Leave the project' : member.status === 'active' ? 'Remove' : 'Withdraw'}
      </a>
    </section>
  );
}

const FLASHES: Readonly<Record<string, string>> = {
  done: 'Saved.',
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
