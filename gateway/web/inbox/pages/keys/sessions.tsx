import type { Child } from 'hono/jsx';
import { plainLine } from '../../../pages/text.ts';
import { Time } from '../../../pages/request-copy.tsx';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { PageHeading } from '../../../ui/list.tsx';
import { age, line } from '../../../ui/text.tsx';
import { Form, Problem, Table, type Column } from '../../../ui/parts.tsx';
import { confirm } from '../../../ui/confirm.tsx';
import { fieldsOf } from '../../../ui/refusal.ts';
import { end, seesAll, sessionsOf, type SessionRow } from './session-queries.ts';
import type {
  ActionResult,
  PageResult,
  FormError,
  UiPage,
  PageContext,
} from '../../page-context.ts';

/** Open web inbox sessions, with a way to end them. */
export const sessionsPage: UiPage = {
  path: 'sessions',
  title: 'Sessions',
  group: 'settings',
  setting: { section: 'Access', about: 'The browsers that are signed in.' },
  scope: 'any',
  // Covers sessions that end with a key or the owner; other sessions have no topic.
  topics: ['keys', 'channels'],
  show,
  act,
};

async function show(context: PageContext): Promise<PageResult> {
  const listed = await sessionsOf(context);
  const others = listed.filter(({ isThis }) => !isThis);
  if (context.query('step') === 'others' && others.length > 0) return askToEnd(context, others);
  return shown(context, listed);
}

async function act(context: PageContext, body: string): Promise<ActionResult> {
  const listed = await sessionsOf(context);
  const form = fieldsOf(body, ['act', 'session']);
  if (form?.act === 'others') {
    await end(
      context,
      listed.filter(({ isThis }) => !isThis),
    );
    return { to: context.at('sessions') };
  }
  if (form?.act === 'end' && form.session !== undefined) {
    const found = listed.find(({ handle }) => handle === form.session);
    if (!found) {
      return shown(context, listed, { status: 404, problem: 'That session has already ended.' });
    }
    await end(context, [found]);
    return { to: found.isThis ? `${context.root}/sign-in?out=1` : context.at('sessions') };
  }
  const problem = 'We couldn’t read the form. Nothing was done.';
  return shown(context, listed, { status: 400, problem });
}

function askToEnd(context: PageContext, others: readonly SessionRow[]): PageResult {
  const question = {
    heading: 'End all other sessions?',
    consequences: (
      <p>
        {pluralize(others.length, 'session')}{' '}
        {seesAll(context) ? 'of this project, including yours in other browsers, ' : 'of this key '}
        {others.length === 1 ? 'ends' : 'end'} at once. This one stays open. Anyone with a key can
        open a new one: to keep someone out, revoke the key or give it a new secret.
      </p>
    ),
    yes: 'Yes, end them',
  };
  return confirm(context, question, { act: 'others', back: context.at('sessions') });
}

function shown(
  context: PageContext,
  listed: readonly SessionRow[],
  { status = 200, problem = null }: FormError = {},
): PageResult {
  const content = (
    <>
      <PageHeading
        title="Sessions"
        lead={
          seesAll(context)
            ? 'The browsers where this project is open: yours, and those opened with a key.'
            : 'The browsers opened with this session’s key.'
        }
        ways={[listed.length > 1 && ['step=others', 'End all others…']]}
      />
      <Problem text={problem} />
      <Table caption="Open sessions, this one first" columns={columnsOf(context)} items={listed} />
      <p class="soft">
        A session ends after 12 hours, or after an hour with none of its pages open.
      </p>
    </>
  );
  return { title: 'Sessions', content, status };
}

function columnsOf(context: PageContext): Column<SessionRow>[] {
  const when = (at: number): Child => age(context, new Date(at).toISOString());
  return [
    {
      title: 'Who',
      cell: ({ access, isThis }) => (
        <span>
          {line(access.name)}
          {isThis && <span class="tag">This session</span>}
        </span>
      ),
    },
    {
      title: 'Signed in',
      cell: ({ session }) => (session.holder.kind === 'key' ? 'by key' : 'by mail'),
    },
    { title: 'Started', cell: ({ session }) => when(session.begunAt) },
    { title: 'Last used', cell: ({ session }) => when(session.usedAt) },
    {
      title: 'Until',
      cell: ({ session }) => <Time at={session.expiresAt} now={context.now} />,
    },
    {
      title: 'End it',
      cell: ({ handle, access, isThis }) => (
        <Form context={context} class="">
          <input type="hidden" name="session" value={handle} />
          <button class="btn small no" name="act" value="end">
            {isThis ? 'Sign out' : 'End'}
            <span class="unseen">
              {' '}
              {isThis ? 'here' : `the session of ${plainLine(access.name)}`}
            </span>
          </button>
        </Form>
      ),
    },
  ];
}
