import type { JSX } from 'hono/jsx/jsx-runtime';
import { mayCall } from '../../../../shared/lib/scopes.ts';
import { pluralize } from '../../../../shared/lib/pluralize.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { lengthOfTime } from '../../pages/time.ts';
import { confirm } from '../confirm.tsx';
import { EventStatusChip, STATUS_LINES } from '../event-copy.tsx';
import { actsFor, type EventAct } from '../event-moves.ts';
import type { SeenEvent } from '../event-queries.ts';
import { Fact } from '../parts.tsx';
import type { PageContext, PageResult } from '../page-context.ts';

interface Act {
  readonly button: string;
  readonly heading: string;
  readonly consequences: string;
  readonly yes: string;
  readonly tone: 'yes' | 'no';
}

const ACTS: Readonly<Record<EventAct, Act>> = {
  requeue: {
    button: 'Requeue',
    heading: 'Requeue this event?',
    consequences:
      'The event becomes pending again at once, and its attempts start from zero. An agent may repeat work it did before the event failed.',
    yes: 'Yes, requeue it',
    tone: 'yes',
  },
  replay: {
    button: 'Replay',
    heading: 'Replay this event?',
    consequences:
      'The event becomes pending again, without its result. An agent may repeat work that was done. An approval that was used stays used.',
    yes: 'Yes, replay it',
    tone: 'yes',
  },
  release: {
    button: 'Release the lease',
    heading: 'Release the lease?',
    consequences:
      'The event becomes pending at once, and another agent may claim it. If the agent that has it is still working, its work may be done twice: svc refuses its result.',
    yes: 'Yes, release it',
    tone: 'no',
  },
  finish: {
    button: 'Mark as done',
    heading: 'Mark this event as done?',
    consequences:
      'Somebody has handled it by hand, so no agent gets it any more. Questions that agents asked about it are withdrawn. You can replay it later.',
    yes: 'Yes, it is done',
    tone: 'yes',
  },
  discard: {
    button: 'Discard',
    heading: 'Discard this event?',
    consequences:
      'Nobody handles it: no agent gets it any more, and it counts as done. Questions that agents asked about it are withdrawn. You can replay it later.',
    yes: 'Yes, discard it',
    tone: 'no',
  },
};

/** Asks before an event is moved. */
export function askToMove(context: PageContext, act: EventAct, id: string): PageResult {
  const { heading, consequences, yes, tone } = ACTS[act];
  return confirm(context, {
    heading,
    back: context.at('events', id),
    consequences: <p>{consequences}</p>,
    act,
    yes,
    tone,
  });
}

/** The event's progress and the possible actions. */
export function StatusCard({
  context,
  seen,
}: {
  readonly context: PageContext;
  readonly seen: SeenEvent;
}): JSX.Element {
  const { event, isRouted } = seen;
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
      <Holder context={context} seen={seen} />
      {retryAt !== null && (
        <p class="soft">
          Next try in {lengthOfTime(retryAt - context.now)}, at{' '}
          <Time at={retryAt} now={context.now} />
        </p>
      )}
      <Waiting context={context} event={event} />
      <Took seen={seen} />
      {event.attempts > 0 && (
        <p class="soft">{pluralize(event.attempts, 'failed attempt')} so far</p>
      )}
      {actsFor(context, seen).map((act) => (
        <a class="btn" href={`?step=${act}`}>
          {ACTS[act].button}
        </a>
      ))}
    </section>
  );
}

function Holder({
  context,
  seen: { held },
}: {
  readonly context: PageContext;
  readonly seen: SeenEvent;
}): JSX.Element | null {
  if (!held) return null;
  return (
    <dl class="facts">
      <Fact name="Claimed by">
        <AgentText text={held.by} reading="line" />
      </Fact>
      <Fact name="Lease ends">
        in {lengthOfTime(held.until - context.now)}, at <Time at={held.until} now={context.now} />
      </Fact>
      {mayCall(context.access.scopes, 'inbox:write') && held.leaseId !== '' && (
        <Fact name="Lease">
          <span class="exact mono">{held.leaseId}</span>
        </Fact>
      )}
    </dl>
  );
}

/** How long it took from its arrival to its end. */
function Took({ seen }: { readonly seen: SeenEvent }): JSX.Element | null {
  const { event, finishedAt } = seen;
  const isOver = event.status === 'done' || event.status === 'dead';
  if (!isOver || finishedAt === null) return null;
  const ms = Math.max(0, finishedAt - Date.parse(event.received_at));
  return (
    <p class="soft">{ms < 1000 ? `${ms} ms` : lengthOfTime(ms)} from its arrival to its end</p>
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
