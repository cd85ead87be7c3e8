import type { JSX } from 'hono/jsx/jsx-runtime';
import { memberInvite } from '../../../../../shared/operations/member/invite.ts';
import { memberRemove } from '../../../../../shared/operations/member/remove.ts';
import { memberRole } from '../../../../../shared/operations/member/role.ts';
import { ROLE_RULES } from '../../../../../shared/rules/roles.ts';
import { Choice, CopyField } from '../../../ui/fields.tsx';
import { sealFlash } from '../../../ui/flash.ts';
import { FactsCard, idFact, type Flash } from '../../../ui/detail.tsx';
import { Steps, type FormPage } from '../../../ui/form.tsx';
import { listPage } from '../../../ui/list.tsx';
import type { Detail } from '../../../ui/item.tsx';
import { resourcePage } from '../../../ui/resource.tsx';
import type { Question } from '../../../ui/confirm.tsx';
import { ago, exact, last } from '../../../ui/text.tsx';
import {
  asksOwner,
  mayInvite,
  memberOf,
  MEMBER_STATES,
  membersOf,
  ROLE_CHOICES,
  type Member,
} from './member-queries.ts';
import { Form, Note } from '../../../ui/parts.tsx';
import type { PageContext, PageResult, UiPage } from '../../page-context.ts';
import { aftermathPage } from '../keys/aftermath.tsx';
import { changeProject, mayChangeProject, showProject } from '../project/project.tsx';

const ADDRESS_MAX_CHARS = 320;

const GOOD_FOR = 'It’s good for 7 days.';

const FLASHES = {
  done: { text: 'Saved.' },
  asked: {
    text: 'An owner is asked first: see Requests. Nothing changes until they approve.',
  },
} as const satisfies Record<string, Flash>;

const members = resourcePage<Member>({
  path: 'members',
  title: 'Members',
  group: 'settings',
  setting: { section: 'People', about: 'Who shares the project, and what they may do.' },
  scope: 'any',
  topics: ['channels', 'requests'],
  all: 'All members',
  list,
  form: (context) =>
    context.query('invite') !== undefined && mayInvite(context) ? inviteForm(context) : null,
  find: memberOf,
  detail,
  acts: [
    {
      name: 'role',
      text: 'Save role',
      isPlaced: true,
      takes: ['role'],
      run: async (context, { id }, { value }) => {
        const answer = await context.call(memberRole, { member_id: id, role: value('role') });
        return { flash: isAsked(answer) ? FLASHES.asked : FLASHES.done };
      },
    },
    {
      name: 'remove',
      text: (context, { id, status }) => {
        if (isOwn(context, id)) return 'Leave the project';
        return status === 'active' ? 'Remove' : 'Withdraw';
      },
      may: mayEnd,
      asks: askToRemove,
      run: async (context, { id }) => {
        const answer = await context.call(memberRemove, { member_id: id });
        if (isAsked(answer)) return { flash: FLASHES.asked };
        // Whoever left sees nothing here any more.
        if (isOwn(context, id)) return { to: context.root };
        return aftermathPage('Member removed', answer, context.at('members'));
      },
    },
  ],
});

/** The people who share the project; an owner also renames and deletes the project here. */
export const membersPage: UiPage = {
  ...members,
  show: (context) => (wantsProject(context) ? showProject(context) : members.show(context)),
  act: (context, body) =>
    wantsProject(context)
      ? changeProject(context, body)
      : (members.act?.(context, body) ?? Promise.resolve({ to: context.at('members') })),
};

function wantsProject(context: PageContext): boolean {
  return context.id === null && context.query('project') !== undefined && mayChangeProject(context);
}

function isOwn({ access }: PageContext, id: string): boolean {
  return access.member?.id === id;
}

/** Whether the visitor may remove this member; the operation knows the rest. */
function mayEnd(context: PageContext, { id }: Member): boolean {
  return context.may(memberInvite) || isOwn(context, id);
}

/** Whether an owner is asked before a change takes effect. */
function isAsked({ request_id: id }: { readonly request_id: string | null }): boolean {
  return id !== null;
}

async function list(context: PageContext): Promise<PageResult> {
  return listPage({
    title: 'Members',
    lead: 'The people who share this project, and what they may do.',
    ways: [
      mayInvite(context) && ['invite=1', 'Invite'],
      mayChangeProject(context) && ['project=1', 'Rename or delete the project'],
    ],
    notes: context.query('joined') !== undefined && <Welcome context={context} />,
    rows: (await membersOf(context)).map(({ id, address, role, status, joined_at: joined }) => ({
      href: context.at('members', id),
      what: (
        <>
          {exact(address ?? 'no address')}
          {isOwn(context, id) && <span class="tag">You</span>}
        </>
      ),
      states: [MEMBER_STATES[status]],
      meta: [role, joined !== null && last(context, 'joined', joined)],
    })),
    empty: 'This key belongs to no member.',
    after: context.inbox.isLocal && (
      <p class="soft">
        This project is on one machine. To share it with others, run a gateway:{' '}
        <code class="mono">svc gateway</code>
      </p>
    ),
  });
}

/** Right after somebody joined: how to work from a terminal. */
function Welcome({ context }: { readonly context: PageContext }): JSX.Element {
  const { access, inbox, project } = context;
  const command = `svc login --gateway ${inbox.publicUrl} --project ${project.slug}`;
  return (
    <>
      <Note tone="good">
        You joined as {access.member?.role ?? 'a member'}. This browser is signed in for 12 hours;
        later, sign in again by email.
      </Note>
      <section class="card stack" aria-label="Your machine">
        <p>To get a key for your agents and your terminal, run this on your machine:</p>
        <CopyField name="login" label="Command" value={command} />
      </section>
    </>
  );
}

function invited({ inbox: { mailReadBy } }: PageContext): Flash {
  if (mailReadBy === null) return { text: `We emailed an invitation. ${GOOD_FOR}` };
  return {
    text: `The invitation wasn’t emailed, because no mail server is set. On the server, ${mailReadBy} shows its link. ${GOOD_FOR}`,
  };
}

function inviteForm(context: PageContext): FormPage {
  return {
    title: 'Invite a person',
    up: [context.at('members'), 'All members'],
    fields: [
      {
        name: 'email',
        label: 'Email address',
        max: ADDRESS_MAX_CHARS,
        placeholder: 'ben@example.com',
      },
      { kind: 'choice', name: 'role', label: 'Role', value: 'member', choices: ROLE_CHOICES },
    ],
    button: 'Email them an invitation',
    after: (
      <Steps
        title="What happens next"
        steps={[
          'If the role decides anything and you aren’t an owner, an owner is asked first.',
          'We email a link to this address. It works once, for 7 days.',
          'The person accepts, is signed in, and gets a key with svc login on their machine.',
        ]}
      />
    ),
    unread: 'Nobody was invited.',
    about: { CHANNEL_ADDRESS_REJECTED: 'email' },
    submit: async ({ value }) => {
      const input = { email: value('email') ?? '', role: value('role') ?? '' };
      const answer = await context.call(memberInvite, input);
      const { id } = answer.member;
      const flash = sealFlash(context, id, isAsked(answer) ? FLASHES.asked : invited(context));
      return { to: `${context.at('members', id)}?told=${flash}` };
    },
  };
}

function askToRemove(context: PageContext, { id }: Member): Question {
  const own = isOwn(context, id);
  return {
    heading: own ? 'Leave this project?' : 'Remove this member?',
    consequences: (
      <p>
        {own ? 'Your' : 'Their'} keys, web sessions, links and buttons stop working at once, and so
        does what {own ? 'you' : 'they'} made: keys, routes and invitations. Replicas on{' '}
        {own ? 'your' : 'their'} machines are erased. Requests that wait there go to an owner.
        Sources go on{own ? '.' : '; the next page says which addresses they knew.'}
      </p>
    ),
    yes: own ? 'Yes, leave' : 'Yes, remove them',
  };
}

function detail(context: PageContext, member: Member): Detail {
  const { id, address, role, status, expires_at: expires } = member;
  return {
    title: address ?? 'Member',
    heading: exact(address ?? 'no address'),
    lead: role,
    main: (
      <FactsCard
        label="About this member"
        facts={[
          ['May', ROLE_RULES[role].summary],
          ['Keys have at most', <span class="mono">{ROLE_RULES[role].scopes.join(', ')}</span>],
          ['Invited', ago(context, member.created_at)],
          member.inviter !== null && ['Invited by', exact(member.inviter)],
          expires !== null && ['Invitation expires', ago(context, expires)],
          ['Joined', ago(context, member.joined_at)],
          idFact(id),
        ]}
      />
    ),
    side: {
      state: MEMBER_STATES[status],
      lines: (
        <>
          {context.may(memberRole) && <RoleForm context={context} member={member} />}
          {status === 'invited' && mayEnd(context, member) && (
            <p class="soft">To send the invitation again, invite the same address once more.</p>
          )}
        </>
      ),
    },
  };
}

function RoleForm({
  context,
  member: { role },
}: {
  readonly context: PageContext;
  readonly member: Member;
}): JSX.Element {
  return (
    <Form context={context}>
      <Choice
        name="role"
        label="Role"
        value={role}
        choices={ROLE_CHOICES}
        hint={asksOwner(context, role) && 'An owner is asked before this takes effect.'}
      />
      <button class="btn small" name="act" value="role">
        Save role
      </button>
    </Form>
  );
}
