import type { Child } from 'hono/jsx';
import { plainLine } from '../../pages/text.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { pluralize } from '../../../../shared/lib/pluralize.ts';
import { Age } from '../event-copy.tsx';
import { Form, Heading, Problem, Table, type Column } from '../parts.tsx';
import { really } from '../really.tsx';
import { fieldsOf } from '../refusal.ts';
import { end, seesAll, sessionsOf, type Listed } from '../session-queries.ts';
import type { Acted, Shown, Trouble, UiPage, Visit } from '../visit.ts';

/** Who has the web inbox open, and an end to it. */
export const sessionsPage: UiPage = {
  path: 'sessions',
  title: 'Sessions',
  scope: 'any',
  // What ends with a key, or with the owner; other sessions are told by no topic.
  topics: ['keys', 'channels'],
  show,
  act,
};

async function show(visit: Visit): Promise<Shown> {
  const listed = await sessionsOf(visit);
  const others = listed.filter(({ isThis }) => !isThis);
  if (visit.query('step') === 'others' && others.length > 0) return askToEnd(visit, others);
  return shown(visit, listed);
}

async function act(visit: Visit, body: string): Promise<Acted> {
  const listed = await sessionsOf(visit);
  const form = fieldsOf(body, ['act', 'session']);
  if (form?.act === 'others') {
    await end(
      visit,
      listed.filter(({ isThis }) => !isThis),
    );
    return { to: visit.at('sessions') };
  }
  if (form?.act === 'end' && form.session !== undefined) {
    const found = listed.find(({ handle }) => handle === form.session);
    if (!found) {
      return shown(visit, listed, { status: 404, problem: 'That session has ended already.' });
    }
    await end(visit, [found]);
    return { to: found.isThis ? `${visit.root}/sign-in?out=1` : visit.at('sessions') };
  }
  const problem = 'The form was not clear. Nothing was done.';
  return shown(visit, listed, { status: 400, problem });
}

function askToEnd(visit: Visit, others: readonly Listed[]): Shown {
  return really(visit, {
    heading: 'End all other sessions?',
    back: visit.at('sessions'),
    consequences: (
      <p>
        {pluralize(others.length, 'session')}{' '}
        {seesAll(visit) ? 'of this project, yours in other browsers among them, ' : 'of this key '}
        {others.length === 1 ? 'ends' : 'end'} at once; this one goes on. Whoever has a key can open
        another: to keep somebody out, revoke the key or give it a new secret.
      </p>
    ),
    act: 'others',
    yes: 'Yes, end them',
  });
}

function shown(
  visit: Visit,
  listed: readonly Listed[],
  { status = 200, problem = null }: Trouble = {},
): Shown {
  const content = (
    <>
      <Heading
        title="Sessions"
        lead={
          seesAll(visit)
            ? 'The browsers in which this project is open: yours, and those that came in with a key.'
            : 'The browsers that came in with the key of this session.'
        }
      >
        {listed.length > 1 && (
          <a class="btn small" href="?step=others">
            End all others…
          </a>
        )}
      </Heading>
      <Problem text={problem} />
      <Table caption="Open sessions, this one first" columns={columnsOf(visit)} items={listed} />
      <p class="soft">
        A session ends by itself after 12 hours, or after an hour in which no page of it was open.
      </p>
    </>
  );
  return { title: 'Sessions', content, status };
}

function columnsOf(visit: Visit): Column<Listed>[] {
  const { now } = visit;
  const age = (at: number): Child => <Age at={new Date(at).toISOString()} now={now} />;
  return [
    { title: 'Who', cell: Who },
    { title: 'Came in', cell: ({ session }) => cameIn(session.holder.kind) },
    { title: 'Begun', cell: ({ session }) => age(session.begunAt) },
    { title: 'Last used', cell: ({ session }) => age(session.usedAt) },
    { title: 'Until', cell: ({ session }) => <Time at={session.expiresAt} now={now} /> },
    { title: 'End it', cell: (listed) => <End visit={visit} listed={listed} /> },
  ];
}

function Who({ access, isThis }: Listed): Child {
  return (
    <span>
      <AgentText text={access.name} reading="line" />
      {isThis && <span class="tag">This session</span>}
    </span>
  );
}

function cameIn(kind: Listed['session']['holder']['kind']): string {
  return kind === 'key' ? 'by key' : 'by mail';
}

function End({ visit, listed }: { readonly visit: Visit; readonly listed: Listed }): Child {
  return (
    <Form visit={visit} class="">
      <input type="hidden" name="session" value={listed.handle} />
      <button class="btn small no" name="act" value="end">
        {listed.isThis ? 'Sign out' : 'End'}
        <span class="unseen">
          {' '}
          {listed.isThis ? 'here' : `the session of ${plainLine(listed.access.name)}`}
        </span>
      </button>
    </Form>
  );
}
