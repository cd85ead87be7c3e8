import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from '../../pages/icons.tsx';
import { AgentText } from '../../pages/request-copy.tsx';
import { Age } from '../event-copy.tsx';
import { CopyField } from '../fields.tsx';
import { mayInvite, MEMBER_STATES, membersOf, type Member } from '../member-queries.ts';
import { Chip, Heading, Nothing, Row, Rows } from '../parts.tsx';
import type { ActionResult, PageContext, PageResult, UiPage } from '../page-context.ts';
import { invite, showInvite } from './invite-member.tsx';
import { actOnMember, showMember } from './member.tsx';
import { changeProject, mayChangeProject, showProject } from './project.tsx';

/** The people who share the project. */
export const membersPage: UiPage = {
  path: 'members',
  title: 'Members',
  group: 'settings',
  setting: { section: 'People', about: 'Who shares the project, and what they may do.' },
  scope: 'any',
  topics: ['channels', 'requests'],
  show,
  act,
};

function wantsToInvite(context: PageContext): boolean {
  return context.query('invite') !== undefined && mayInvite(context);
}

function wantsProject(context: PageContext): boolean {
  return context.query('project') !== undefined && mayChangeProject(context);
}

function show(context: PageContext): Promise<PageResult> {
  if (context.id !== null) return showMember(context, context.id);
  if (wantsProject(context)) return Promise.resolve(showProject(context));
  return wantsToInvite(context) ? Promise.resolve(showInvite(context)) : showList(context);
}

function act(context: PageContext, body: string): Promise<ActionResult> {
  if (context.id !== null) return actOnMember(context, context.id, body);
  if (wantsProject(context)) return changeProject(context, body);
  return wantsToInvite(context)
    ? invite(context, body)
    : Promise.resolve({ to: context.at('members') });
}

async function showList(context: PageContext): Promise<PageResult> {
  const members = await membersOf(context);
  const content = (
    <>
      <Heading title="Members" lead="The people who share this project, and what they may do.">
        {mayInvite(context) && (
          <a class="btn small" href="?invite=1">
            Invite
          </a>
        )}
      </Heading>
      {context.query('joined') !== undefined && <Welcome context={context} />}
      {members.length === 0 ? (
        <Nothing>This key belongs to no member.</Nothing>
      ) : (
        <Rows label="Members">
          {members.map((member) => (
            <MemberRow context={context} member={member} />
          ))}
        </Rows>
      )}
      {mayChangeProject(context) && (
        <p>
          <a class="btn small" href="?project=1">
            Rename or delete the project
          </a>
        </p>
      )}
      {context.inbox.isLocal && (
        <p class="soft">
          This project is on one machine. To share it with others, run a gateway:{' '}
          <code class="mono">svc gateway</code>
        </p>
      )}
    </>
  );
  return { title: 'Members', content };
}

/** Right after somebody joined: how to work from a terminal. */
function Welcome({ context }: { readonly context: PageContext }): JSX.Element {
  const { access, inbox, project } = context;
  const command = `svc login --gateway ${inbox.publicUrl} --project ${project.slug}`;
  return (
    <>
      <div class="note good" role="status">
        <Icon name="yes" />
        <p>
          You joined as {access.member?.role ?? 'a member'}. This browser is signed in for 12 hours;
          later, sign in again by email.
        </p>
      </div>
      <section class="card stack" aria-label="Your machine">
        <p>To get a key for your agents and your terminal, run this on your machine:</p>
        <CopyField name="login" label="Command" value={command} />
      </section>
    </>
  );
}

function MemberRow({
  context,
  member,
}: {
  readonly context: PageContext;
  readonly member: Member;
}): JSX.Element {
  const { id, address, role, status, joined_at: joined } = member;
  const { text, tone } = MEMBER_STATES[status];
  return (
    <Row href={context.at('members', id)}>
      <span class="what">
        <AgentText text={address ?? 'no address'} reading="exact" />
        {id === context.access.member?.id && <span class="tag">You</span>}
      </span>
      <Chip text={text} tone={tone} />
      <span class="meta">
        {role}
        {joined !== null && (
          <>
            {' · joined '}
            <Age at={joined} now={context.now} />
          </>
        )}
      </span>
    </Row>
  );
}
