import type { JSX } from 'hono/jsx/jsx-runtime';
import { requestList } from '../../../../shared/operations/request/list.ts';
import type { RequestRecord } from '../../../../shared/operations/request/record.ts';
import { withdrawnBecause } from '../../../../shared/rules/request-state.ts';
import { Icon } from '../../pages/icons.tsx';
import { lengthOfTime } from '../../pages/time.ts';
import { endOf, KINDS } from '../../pages/copy.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { Chip, Filters, Heading, Nothing, Pager, Row, Rows, type Tone } from '../parts.tsx';
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

async function showList(context: PageContext): Promise<PageResult> {
  const status = FILTERS.find(([value]) => value === context.query('status'))?.[0] ?? null;
  const cursor = context.query('cursor');
  const isFirst = cursor === undefined;
  const waiting = isFirst ? await list(context, { status: 'pending', limit: WAITING_MAX }) : null;
  const history = await list(context, {
    limit: HISTORY_MAX,
    ...(status !== null && { status }),
    ...(cursor !== undefined && { cursor }),
  });
  // Without a filter, the list also contains pending requests.
  const ended = history.items.filter((one) => one.status !== 'pending');
  const content = (
    <>
      <Heading title="Requests" />
      <DecidingNote context={context} />
      <MutedKeys context={context} muted={await mutedKeys(context)} />
      {waiting && <Waiting context={context} items={waiting.items} />}
      <section aria-labelledby="history">
        <div class="listhead">
          <h2 id="history">History</h2>
          <Filters label="Filter" name="status" choices={FILTERS} chosen={status} />
        </div>
        {ended.length === 0 ? (
          <Nothing>Nothing here.</Nothing>
        ) : (
          <Rows label="History">
            {ended.map((one) => (
              <RequestRow context={context} request={one} />
            ))}
          </Rows>
        )}
        <Pager context={context} next={history.next_cursor} keep={['status']} />
      </section>
    </>
  );
  return { title: 'Requests', content };
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
}: {
  readonly context: PageContext;
  readonly items: readonly RequestRecord[];
}): JSX.Element {
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting for a decision</h2>
      {items.length === 0 ? (
        <Nothing>No requests waiting. New ones appear here on their own.</Nothing>
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
