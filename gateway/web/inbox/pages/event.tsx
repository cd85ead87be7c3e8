import type { JSX } from 'hono/jsx/jsx-runtime';
import { inboxRequeue } from '../../../../shared/operations/inbox/requeue.ts';
import { ledgerQuery } from '../../../../shared/operations/ledger/query.ts';
import { mayCall } from '../../../../shared/lib/scopes.ts';
import { Icon } from '../../pages/icons.tsx';
import { digitsOf } from '../../pages/number.ts';
import { lengthOfTime } from '../../pages/time.ts';
import { AgentText, Ago, LongText, Time } from '../../pages/request-copy.tsx';
import { lookAtEvent, type SeenEvent } from '../event-queries.ts';
import { EventStatusChip, mailOf, STATUS_LINES, Verified } from '../event-copy.tsx';
import { Fact, Problem, Table, type Column, UpLink } from '../parts.tsx';
import { confirm } from '../confirm.tsx';
import { fieldsOf, refusalOf } from '../refusal.ts';
import type { ActionResult, PageResult, FormError, PageContext } from '../page-context.ts';
import { Content } from './event-content.tsx';
import { pluralize, nounFor } from '../../../../shared/lib/pluralize.ts';

/** One event: its content, its progress, and a way to requeue it if it is dead. */
export async function showEvent(context: PageContext, id: string): Promise<PageResult> {
  const seen = await lookAtEvent(context, id);
  const isAsked = context.query('step') === 'requeue' && mayRequeue(context, seen);
  return isAsked ? askAgain(context, id) : shown(context, seen);
}

export async function actOnEvent(context: PageContext, body: string): Promise<ActionResult> {
  const { id } = context;
  const form = fieldsOf(body, ['act']);
  if (id === null || form?.act !== 'requeue') {
    return unclear(context, id);
  }
  try {
    await context.call(inboxRequeue, { event_id: id });
  } catch (error) {
    const { status, text } = refusalOf(error, []);
    return shown(context, await lookAtEvent(context, id), { status, problem: text });
  }
  return { to: context.at('events', id) };
}

/** Answers a form that none of our pages sends. */
async function unclear(context: PageContext, id: string | null): Promise<ActionResult> {
  if (id === null) return { to: context.at('events') };
  const problem = 'We couldn’t read the form. Nothing was done.';
  return shown(context, await lookAtEvent(context, id), { status: 400, problem });
}

function mayRequeue({ access }: PageContext, { event }: SeenEvent): boolean {
  const isIdle = event.status === 'dead' || event.status === 'waiting';
  return isIdle && mayCall(access.scopes, inboxRequeue.scope);
}

function askAgain(context: PageContext, id: string): PageResult {
  return confirm(context, {
    heading: 'Requeue this event?',
    back: context.at('events', id),
    consequences: (
      <p>
        The event becomes pending again at once, and its attempts start from zero. An agent may
        repeat work it did before the event failed.
      </p>
    ),
    act: 'requeue',
    yes: 'Yes, requeue it',
    tone: 'yes',
  });
}

async function shown(
  context: PageContext,
  seen: SeenEvent,
  { status = 200, problem = null }: FormError = {},
): Promise<PageResult> {
  const { event } = seen;
  const history = await historyOf(context, event.id);
  const subject = mailOf(event)?.subject;
  const content = (
    <>
      <UpLink href={context.at('events')} whole>
        All events
      </UpLink>
      <div class="stack">
        <h1>{subject ? 'Mail received' : <AgentText text={event.type} reading="exact" />}</h1>
        <Problem text={problem} />
        <Content context={context} event={event} />
      </div>
      <StatusCard context={context} seen={seen} />
      <div class="about stack">
        <Remarks seen={seen} />
        <About context={context} seen={seen} />
        {history.length > 0 && <History context={context} entries={history} />}
      </div>
    </>
  );
  return { title: 'Event', content, status, wide: true };
}

/** The event's progress and the possible actions. */
function StatusCard({
  context,
  seen,
}: {
  readonly context: PageContext;
  readonly seen: SeenEvent;
}): JSX.Element {
  const { event, held, isRouted } = seen;
  const retryAt = event.retry_at === null ? null : Date.parse(event.retry_at);
  return (
    <section class="act card stack" aria-labelledby="standing">
      <h2 id="standing" class="headed">
        State <EventStatusChip status={event.status} />
      </h2>
      <p>
        {isRouted && event.status === 'pending'
          ? 'A route delivers it, so agents can’t claim it.'
          : STATUS_LINES[event.status]}
      </p>
      {held && (
        <dl class="facts">
          <Fact name="Claimed by">
            <AgentText text={held.by} reading="line" />
          </Fact>
          <Fact name="Lease ends">
            in {lengthOfTime(held.until - context.now)}, at{' '}
            <Time at={held.until} now={context.now} />
          </Fact>
        </dl>
      )}
      {retryAt !== null && (
        <p class="soft">
          Next try in {lengthOfTime(retryAt - context.now)}, at{' '}
          <Time at={retryAt} now={context.now} />
        </p>
      )}
      <Waiting context={context} event={event} />
      {event.attempts > 0 && (
        <p class="soft">{pluralize(event.attempts, 'failed attempt')} so far</p>
      )}
      {mayRequeue(context, seen) && (
        <a class="btn" href="?step=requeue">
          Requeue
        </a>
      )}
    </section>
  );
}

/** What a parked event waits for. */
function Waiting({
  context,
  event: { waiting_for: conditions, wakes_at: wakesAt },
}: {
  readonly context: PageContext;
  readonly event: SeenEvent['event'];
}): JSX.Element | null {
  if (!conditions || wakesAt === undefined) return null;
  return (
    <dl class="facts">
      {conditions.map(({ id, status }) => (
        <Fact name={status === 'pending' ? 'Waits for' : `Waited for (${status})`}>
          <Awaited context={context} id={id} />
        </Fact>
      ))}
      <Fact name="Goes on">
        by <Time at={Date.parse(wakesAt)} now={context.now} />
      </Fact>
    </dl>
  );
}

function Awaited({
  context,
  id,
}: {
  readonly context: PageContext;
  readonly id: string;
}): JSX.Element {
  if (id.startsWith('req_')) return <a href={context.at('requests', id)}>a decision</a>;
  if (id.startsWith('evt_')) return <a href={context.at('events', id)}>another event</a>;
  if (id.startsWith('msg_') || id.startsWith('bat_')) return <>an answer by mail</>;
  return <Time at={Date.parse(id)} now={context.now} />;
}

/** What agents said about the event. */
function Remarks({ seen }: { readonly seen: SeenEvent }): JSX.Element | null {
  const { event, reason, result } = seen;
  const isOver = event.status === 'done';
  const said = isOver ? result : reason;
  if (said === null) return null;
  return (
    <figure class="said">
      <figcaption>
        {isOver ? 'What the agent said when it finished' : 'Why an agent gave it back'}
      </figcaption>
      <LongText text={said} mono={isOver} />
    </figure>
  );
}

function About({
  context,
  seen,
}: {
  readonly context: PageContext;
  readonly seen: SeenEvent;
}): JSX.Element {
  const { event, sizeBytes, contentType } = seen;
  return (
    <section class="card" aria-labelledby="about">
      <h2 id="about">About this event</h2>
      <dl class="facts">
        <Fact name="Received">
          <Ago at={Date.parse(event.received_at)} now={context.now} />
        </Fact>
        <Fact name="Source">
          <AgentText text={event.source} reading="exact" class="mono" />
        </Fact>
        <Fact name="Type">
          <AgentText text={event.type} reading="exact" class="mono" />
        </Fact>
        <Fact name="Sender">
          <Verified event={event} />
          {event.suspected_replay && (
            <span class="mark warn">
              <Icon name="warn" /> may be a duplicate
            </span>
          )}
        </Fact>
        <Fact name="Content">
          {digitsOf(sizeBytes)} {nounFor(sizeBytes, 'byte')}
          {contentType !== null && (
            <>
              {', '}
              <AgentText text={contentType.slice(0, 200)} reading="line" />
            </>
          )}
        </Fact>
        {event.reply_to !== null && (
          <Fact name="In reply to">
            <AgentText text={event.reply_to} reading="exact" class="mono" />
          </Fact>
        )}
        <Fact name="Id">
          <span class="exact mono">{event.id}</span>
        </Fact>
      </dl>
    </section>
  );
}

interface Entry {
  readonly at: string;
  readonly op: string;
  readonly agent: string | null;
  readonly platform: string | null;
  readonly outcome: 'ok' | 'error';
  readonly code: string | null;
}

const HISTORY_LENGTH = 50;

/** The event's ledger entries, newest first; empty if the visitor can't read the ledger. */
async function historyOf(context: PageContext, id: string): Promise<readonly Entry[]> {
  if (!mayCall(context.access.scopes, ledgerQuery.scope)) return [];
  const input = { subject: id, limit: HISTORY_LENGTH };
  return ((await context.call(ledgerQuery, input)) as { items: Entry[] }).items;
}

const OPS = new Map([
  ['event.received', 'Received'],
  ['inbox_claim', 'Claimed'],
  ['inbox_extend', 'Lease extended'],
  ['inbox_ack', 'Done'],
  ['inbox_nack', 'Given back'],
  ['inbox_requeue', 'Requeued'],
  ['lease.expired', 'Lease expired'],
  ['delivery.dead', 'A route gave up'],
]);

function History({
  context,
  entries,
}: {
  readonly context: PageContext;
  readonly entries: readonly Entry[];
}): JSX.Element {
  const columns: readonly Column<Entry>[] = [
    { title: 'When', cell: ({ at }) => <Time at={Date.parse(at)} now={context.now} /> },
    {
      title: 'What',
      cell: ({ op, outcome, code }) => (
        <>
          {OPS.get(op) ?? op}
          {outcome === 'error' && <span class="risk high"> refused: {code}</span>}
        </>
      ),
    },
    {
      title: 'By',
      cell: ({ agent, platform }) => <AgentText text={byText(agent, platform)} reading="line" />,
    },
  ];
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <Table caption="History of this event, newest first" columns={columns} items={entries} />
    </section>
  );
}

function byText(agent: string | null, platform: string | null): string {
  if (agent === null && platform === null) return 'the service';
  const who = agent ?? 'an agent';
  return platform === null || platform === 'unknown' ? who : `${who} on ${platform}`;
}
