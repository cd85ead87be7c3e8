import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { requestList } from '../../../../../shared/operations/request/list.ts';
import type { RequestRecord } from '../../../../../shared/operations/request/record.ts';
import { withdrawnBecause } from '../../../../../shared/rules/requests/request-state.ts';
import { lengthOfTime } from '../../../ui/time.ts';
import { endOf, KINDS } from '../../../pages/copy.ts';
import { STATUSES, waitsForText } from '../events/event-copy.tsx';
import { Fields, knownField } from '../../../ui/form.tsx';
import { ListSection, type ListRow } from '../../../ui/list.tsx';
import { last, line, mono, time } from '../../../ui/text.tsx';
import { Filters, Heading, Note, Pager, type Tone } from '../../../ui/parts.tsx';
import {
  findRequests,
  knownOf,
  waitingEvents,
  type FoundRequests,
  type WaitingEvent,
} from './request-queries.ts';
import type { PageResult, UiPage, PageContext } from '../../page-context.ts';
import { mutedNotes } from '../people/muted-keys.tsx';
import { actOnRequest, showRequest } from './request.tsx';

/** The requests of agents to people: pending ones, and how the others ended. */
export const requestsPage: UiPage = {
  path: 'requests',
  title: 'Requests',
  group: 'requests',
  scope: 'approvals',
  topics: ['requests'],
  show: (context) => (context.id === null ? showList(context) : showRequest(context, context.id)),
  act: actOnRequest,
};

const WAITING_MAX = 50;
const HISTORY_MAX = 30;

const FILTERS = [
  [null, 'All'],
  ['approved', 'Approved'],
  ['modified', 'Changed'],
  ['denied', 'Denied'],
  ['answered', 'Answered'],
  ['needs_context', 'Sent back'],
  ['expired', 'Expired'],
] as const;

const NARROWED = ['agent', 'action', 'risk'] as const;
const RISKS = ['low', 'medium', 'high'] as const;

type RequestFilter = Readonly<Partial<Record<(typeof NARROWED)[number], string>>>;

async function showList(context: PageContext): Promise<PageResult> {
  const status = FILTERS.find(([value]) => value === context.query('status'))?.[0] ?? null;
  const isFirst = context.query('cursor') === undefined;
  const narrowed = narrowedBy(context);
  const isNarrowed = Object.keys(narrowed).length > 0;
  const content = (
    <>
      <Heading title="Requests" />
      {decidingNote(context)}
      {await mutedNotes(context)}
      {await filterForm(context, status, narrowed)}
      {isFirst && (
        <ListSection
          title="Waiting for a decision"
          rows={(await pendingOf(context, narrowed)).map((one) => rowOf(context, one))}
          empty={
            isNarrowed
              ? 'No waiting requests match.'
              : 'No requests waiting. New ones appear here on their own.'
          }
        />
      )}
      {isFirst && !isNarrowed && (await eventsThatWait(context))}
      {history(context, await historyOf(context, status, narrowed), { status, narrowed })}
    </>
  );
  return { title: 'Requests', content };
}

function narrowedBy(context: PageContext): RequestFilter {
  const given = NARROWED.map((name) => [name, context.query(name)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== ''));
}

/** There are few pending requests, so this needs no index. */
async function pendingOf(
  context: PageContext,
  { agent, action, risk }: RequestFilter,
): Promise<readonly RequestRecord[]> {
  const { items } = await list(context, { status: 'pending', limit: WAITING_MAX });
  return items.filter(
    (one) =>
      (agent === undefined || one.requested_by.agent === agent) &&
      (action === undefined || one.action === action) &&
      (risk === undefined || one.risk === risk),
  );
}

/** Requests that ended, newest first. */
async function historyOf(
  context: PageContext,
  status: string | null,
  narrowed: RequestFilter,
): Promise<FoundRequests> {
  const of = status === null ? {} : { status };
  const cursor = context.query('cursor');
  if (Object.keys(narrowed).length > 0) {
    return context.read(findRequests, { filter: { ...of, ...narrowed }, cursor });
  }
  const input = { limit: HISTORY_MAX, ...of, ...(cursor !== undefined && { cursor }) };
  const { items, next_cursor: nextCursor } = await list(context, input);
  return { items, nextCursor, isCut: false };
}

function history(
  context: PageContext,
  { items, nextCursor, isCut }: FoundRequests,
  { status, narrowed }: { readonly status: string | null; readonly narrowed: RequestFilter },
): JSX.Element {
  // Without a filter, the list also contains pending requests.
  const ended = items.filter((one) => one.status !== 'pending');
  return (
    <ListSection
      title="History"
      beside={
        <Filters label="Filter" name="status" choices={FILTERS} chosen={status} keep={narrowed} />
      }
      rows={ended.map((one) => rowOf(context, one))}
      empty={isCut ? 'No match so far.' : 'Nothing here.'}
    >
      <Pager
        context={context}
        next={nextCursor}
        keep={['status', ...NARROWED]}
        words={['Newest', isCut ? 'Search older requests' : 'Older']}
      />
    </ListSection>
  );
}

/** Filters by known values, open if in use. */
async function filterForm(
  context: PageContext,
  status: string | null,
  { agent, action, risk }: RequestFilter,
): Promise<JSX.Element> {
  const { agents, actions } = await context.read(knownOf, {});
  const fields = [
    knownField('agent', agents, agent),
    knownField('action', actions, action),
    knownField('risk', RISKS, risk),
  ];
  return (
    <details class="finer" open={(agent ?? action ?? risk) !== undefined}>
      <summary>Filter by agent, action and risk</summary>
      <form>
        {status !== null && <input type="hidden" name="status" value={status} />}
        <Fields fields={fields} />
        <button class="btn small">Filter</button>
      </form>
    </details>
  );
}

async function list(
  context: PageContext,
  input: Readonly<Record<string, unknown>>,
): Promise<AnswerOf<typeof requestList>> {
  return context.call(requestList, input);
}

/** Explains who decides here, if that isn't obvious. */
function decidingNote({ access: { deciding }, root }: PageContext): JSX.Element | null {
  if (deciding === 'member') return null;
  const notes: Readonly<Record<typeof deciding, Child>> = {
    anybody: (
      <>
        No owner’s address is set, so anyone using this machine’s account can decide here. To set
        one: <code class="mono">svc up --owner EMAIL</code>
      </>
    ),
    not_this_role: 'Your role decides nothing. An owner can give you another one.',
    not_a_key: (
      <>
        Opened with a key, which can’t decide anything.{' '}
        <a href={`${root}/sign-in`}>Sign in by email</a> to decide here.
      </>
    ),
  };
  return <Note>{notes[deciding]}</Note>;
}

/** Events that agents parked, and whom each waits for. */
async function eventsThatWait(context: PageContext): Promise<JSX.Element | null> {
  const waiting = await waitingEvents(context);
  if (waiting.length === 0) return null;
  const rows = waiting.map(({ event, requests }): ListRow => ({
    href: context.at('events', event.id),
    what: event.gist ? line(event.gist) : mono(event.type),
    states: [STATUSES[event.status]],
    meta: [
      requests.length === 0 && `waits for ${waitsForText(event.waiting_for ?? [])}`,
      ...requests.map(awaited),
      event.parked_at !== undefined && last(context, 'parked', event.parked_at),
    ],
  }));
  return <ListSection title="Events that wait" rows={rows} />;
}

function awaited({ summary, to }: WaitingEvent['requests'][number]): JSX.Element {
  return (
    <>
      waits for {line(to || 'a person')} to decide “{line(summary)}”
    </>
  );
}

/** Requests that expire this soon are highlighted. */
const URGENT_MS = 3_600_000;

const TONES: Readonly<Record<RequestRecord['status'], Tone>> = {
  pending: 'calm',
  approved: 'good',
  modified: 'good',
  answered: 'good',
  denied: 'bad',
  needs_context: 'calm',
  expired: 'calm',
};

function rowOf(context: PageContext, request: RequestRecord): ListRow {
  const { kind, status, risk, action, approvals, requested_by: by } = request;
  const left = Date.parse(request.expires_at) - context.now;
  const word =
    status === 'pending'
      ? `${lengthOfTime(left)} left`
      : endOf({ kind, withdrawn: withdrawnBecause(request.hint) }, status).heading;
  const isUrgent = status === 'pending' && left < URGENT_MS;
  return {
    href: context.at('requests', request.request_id),
    what: line(request.summary || (request.question ?? '')),
    states: [[word, isUrgent ? 'warn' : TONES[status]]],
    meta: [
      KINDS[kind].noun,
      action !== null && mono(action),
      risk === 'high' && <span class="risk high">high risk</span>,
      approvals.needed > 1 && `${approvals.given.length} of ${approvals.needed} approvals`,
      by.agent === null ? 'an agent' : line(by.agent),
      time(context, request.created_at),
    ],
  };
}
