import type { JSX } from 'hono/jsx/jsx-runtime';
import { requestList } from '../../../../shared/operations/request/list.ts';
import type { RequestRecord } from '../../../../shared/operations/request/record.ts';
import { withdrawnBecause } from '../../../../shared/rules/request-state.ts';
import { Icon } from '../../pages/icons.tsx';
import { lengthOfTime } from '../../pages/time.ts';
import { endOf, KINDS } from '../../pages/copy.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { Age, EventStatusChip, waitsForText } from '../event-copy.tsx';
import { Choice, offered } from '../fields.tsx';
import { Chip, Filters, Heading, Nothing, Pager, Row, Rows, type Tone } from '../parts.tsx';
import {
  findRequests,
  knownOf,
  waitingEvents,
  type FoundRequests,
  type WaitingEvent,
} from '../request-queries.ts';
import type { PageResult, UiPage, PageContext } from '../page-context.ts';
import { MutedKeys, mutedKeys } from './muted-keys.tsx';
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

interface Listed {
  readonly items: readonly RequestRecord[];
  readonly next_cursor: string | null;
}

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

type Narrowed = Readonly<Partial<Record<(typeof NARROWED)[number], string>>>;

async function showList(context: PageContext): Promise<PageResult> {
  const status = FILTERS.find(([value]) => value === context.query('status'))?.[0] ?? null;
  const isFirst = context.query('cursor') === undefined;
  const narrowed = narrowedBy(context);
  const isNarrowed = Object.keys(narrowed).length > 0;
  const content = (
    <>
      <Heading title="Requests" />
      <DecidingNote context={context} />
      <MutedKeys context={context} muted={await mutedKeys(context)} />
      <Narrow narrowed={narrowed} status={status} known={await knownOf(context)} />
      {isFirst && (
        <Waiting
          context={context}
          items={await pendingOf(context, narrowed)}
          isNarrowed={isNarrowed}
        />
      )}
      {isFirst && !isNarrowed && (
        <WaitingEvents context={context} waiting={await waitingEvents(context)} />
      )}
      <History
        context={context}
        status={status}
        narrowed={narrowed}
        found={await historyOf(context, status, narrowed)}
      />
    </>
  );
  return { title: 'Requests', content };
}

function narrowedBy(context: PageContext): Narrowed {
  const given = NARROWED.map((name) => [name, context.query(name)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== ''));
}

/** There are few pending requests, so this needs no index. */
async function pendingOf(
  context: PageContext,
  { agent, action, risk }: Narrowed,
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
  narrowed: Narrowed,
): Promise<FoundRequests> {
  const of = status === null ? {} : { status };
  if (Object.keys(narrowed).length > 0) return findRequests(context, { ...of, ...narrowed });
  const cursor = context.query('cursor');
  const input = { limit: HISTORY_MAX, ...of, ...(cursor !== undefined && { cursor }) };
  const { items, next_cursor: nextCursor } = await list(context, input);
  return { items, nextCursor, isCut: false };
}

function History({
  context,
  status,
  narrowed,
  found: { items, nextCursor, isCut },
}: {
  readonly context: PageContext;
  readonly status: string | null;
  readonly narrowed: Narrowed;
  readonly found: FoundRequests;
}): JSX.Element {
  // Without a filter, the list also contains pending requests.
  const ended = items.filter((one) => one.status !== 'pending');
  return (
    <section aria-labelledby="history">
      <div class="listhead">
        <h2 id="history">History</h2>
        <Filters
          label="Filter"
          name="status"
          choices={FILTERS}
          chosen={status}
          keep={{ ...narrowed }}
        />
      </div>
      {ended.length === 0 ? (
        <Nothing>{isCut ? 'No match so far.' : 'Nothing here.'}</Nothing>
      ) : (
        <Rows label="History">
          {ended.map((one) => (
            <RequestRow context={context} request={one} />
          ))}
        </Rows>
      )}
      <Pager
        context={context}
        next={nextCursor}
        keep={['status', ...NARROWED]}
        words={['Newest', isCut ? 'Search older requests' : 'Older']}
      />
    </section>
  );
}

/** Filters by known values, open if in use. */
function Narrow({
  narrowed,
  status,
  known: { agents, actions },
}: {
  readonly narrowed: Narrowed;
  readonly status: string | null;
  readonly known: { readonly agents: readonly string[]; readonly actions: readonly string[] };
}): JSX.Element {
  const { agent, action, risk } = narrowed;
  return (
    <details class="finer" open={Object.keys(narrowed).length > 0}>
      <summary>Filter by agent, action and risk</summary>
      <form>
        {status !== null && <input type="hidden" name="status" value={status} />}
        <Choice
          name="agent"
          label="Agent"
          value={agent}
          choices={offered('any agent', agents, agent)}
        />
        <Choice
          name="action"
          label="Action"
          value={action}
          choices={offered('any action', actions, action)}
        />
        <Choice name="risk" label="Risk" value={risk} choices={offered('any risk', RISKS, risk)} />
        <button class="btn small">Filter</button>
      </form>
    </details>
  );
}

async function list(
  context: PageContext,
  input: Readonly<Record<string, unknown>>,
): Promise<Listed> {
  return (await context.call(requestList, input)) as Listed;
}

/** Explains who decides here, if that isn't obvious. */
function DecidingNote({ context }: { readonly context: PageContext }): JSX.Element | null {
  const { deciding } = context.access;
  if (deciding === 'member') return null;
  return (
    <div class="note">
      <Icon name="ask" />
      <p>
        {deciding === 'anybody' ? (
          <>
            No owner’s address is set, so anyone using this machine’s account can decide here. To
            set one: <code class="mono">svc up --owner EMAIL</code>
          </>
        ) : deciding === 'not_this_role' ? (
          'Your role decides nothing. An owner can give you another one.'
        ) : (
          <>
            Opened with a key, which can’t decide anything.{' '}
            <a href={`${context.root}/sign-in`}>Sign in by email</a> to decide here.
          </>
        )}
      </p>
    </div>
  );
}

function Waiting({
  context,
  items,
  isNarrowed,
}: {
  readonly context: PageContext;
  readonly items: readonly RequestRecord[];
  readonly isNarrowed: boolean;
}): JSX.Element {
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting for a decision</h2>
      {items.length === 0 ? (
        <Nothing>
          {isNarrowed
            ? 'No waiting requests match.'
            : 'No requests waiting. New ones appear here on their own.'}
        </Nothing>
      ) : (
        <Rows label="Waiting for a decision">
          {items.map((one) => (
            <RequestRow context={context} request={one} />
          ))}
        </Rows>
      )}
    </section>
  );
}

/** Events that agents parked, and whom each waits for. */
function WaitingEvents({
  context,
  waiting,
}: {
  readonly context: PageContext;
  readonly waiting: readonly WaitingEvent[];
}): JSX.Element | null {
  if (waiting.length === 0) return null;
  return (
    <section aria-labelledby="parked">
      <h2 id="parked">Events that wait</h2>
      <Rows label="Events that wait">
        {waiting.map(({ event, requests }) => (
          <Row href={context.at('events', event.id)}>
            {event.gist ? (
              <AgentText text={event.gist} reading="line" class="what" />
            ) : (
              <AgentText text={event.type} reading="exact" class="what mono" />
            )}
            <EventStatusChip status={event.status} />
            <span class="meta">
              {requests.length === 0 && `waits for ${waitsForText(event.waiting_for ?? [])}`}
              {requests.map(({ summary, to }, index) => (
                <>
                  {index > 0 && ' · '}
                  waits for <AgentText text={to || 'a person'} reading="line" /> to decide “
                  <AgentText text={summary} reading="line" />”
                </>
              ))}
              {event.parked_at !== undefined && (
                <>
                  {' · parked '}
                  <Age at={event.parked_at} now={context.now} />
                </>
              )}
            </span>
          </Row>
        ))}
      </Rows>
    </section>
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

function RequestRow({
  context,
  request,
}: {
  readonly context: PageContext;
  readonly request: RequestRecord;
}): JSX.Element {
  const { kind, status, risk, approvals, requested_by: by } = request;
  const expiresAt = Date.parse(request.expires_at);
  const asked = Date.parse(request.created_at);
  const word =
    status === 'pending'
      ? `${lengthOfTime(expiresAt - context.now)} left`
      : endOf({ kind, withdrawn: withdrawnBecause(request.hint) }, status).heading;
  const isUrgent = status === 'pending' && expiresAt - context.now < URGENT_MS;
  return (
    <Row href={context.at('requests', request.request_id)}>
      <AgentText text={request.summary || (request.question ?? '')} reading="line" class="what" />
      <Chip text={word} tone={isUrgent ? 'warn' : TONES[status]} />
      <span class="meta">
        {KINDS[kind].noun}
        {request.action !== null && (
          <>
            {' · '}
            <AgentText text={request.action} reading="exact" class="mono" />
          </>
        )}
        {risk === 'high' && (
          <>
            {' · '}
            <span class="risk high">high risk</span>
          </>
        )}
        {approvals.needed > 1 && ` · ${approvals.given.length} of ${approvals.needed} approvals`}
        {' · '}
        {by.agent === null ? 'an agent' : <AgentText text={by.agent} reading="line" />}
        {' · '}
        <Time at={asked} now={context.now} />
      </span>
    </Row>
  );
}
