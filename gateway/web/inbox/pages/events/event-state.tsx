import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { inboxExtend } from '../../../../../shared/operations/inbox/extend.ts';
import { inboxRequeue } from '../../../../../shared/operations/inbox/requeue.ts';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { lengthOfTime } from '../../../ui/time.ts';
import type { Question } from '../../../ui/confirm.tsx';
import { STATUS_LINES } from './event-copy.tsx';
import { isMovable, moveEvent, type EventAct } from './event-moves.ts';
import type { SeenEvent } from './event-queries.ts';
import { Facts, type FactRow } from '../../../ui/detail.tsx';
import type { Act } from '../../../ui/item.tsx';
import { due, line, ours, time } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';

/** What a person can do with an event. */
export const EVENT_MOVES: readonly Act<SeenEvent>[] = [
  moveOf('requeue', 'Requeue', {
    heading: 'Requeue this event?',
    consequences:
      'The event becomes pending again at once, and its attempts start from zero. An agent may repeat work it did before the event failed.',
    yes: 'Yes, requeue it',
    tone: 'yes',
  }),
  moveOf('replay', 'Replay', {
    heading: 'Replay this event?',
    consequences:
      'The event becomes pending again, without its result. An agent may repeat work that was done. An approval that was used stays used.',
    yes: 'Yes, replay it',
    tone: 'yes',
  }),
  moveOf('release', 'Release the lease', {
    heading: 'Release the lease?',
    consequences:
      'The event becomes pending at once, and another agent may claim it. If the agent that has it is still working, its work may be done twice: svc refuses its result.',
    yes: 'Yes, release it',
  }),
  moveOf('finish', 'Mark as done', {
    heading: 'Mark this event as done?',
    consequences:
      'Somebody has handled it by hand, so no agent gets it any more. Questions that agents asked about it are withdrawn. You can replay it later.',
    yes: 'Yes, it is done',
    tone: 'yes',
  }),
  moveOf('discard', 'Discard', {
    heading: 'Discard this event?',
    consequences:
      'Nobody handles it: no agent gets it any more, and it counts as done. Questions that agents asked about it are withdrawn. You can replay it later.',
    yes: 'Yes, discard it',
  }),
];

function moveOf(name: EventAct, text: string, question: Question): Act<SeenEvent> {
  return {
    name,
    text,
    needs: inboxRequeue,
    may: (_context, seen) => isMovable(seen, name),
    asks: () => question,
    run: async (context, { event }) => {
      const reason = await moveEvent(context, name, event.id);
      return reason === null
        ? { to: context.at('events', event.id) }
        : { problem: `Nothing was done. ${reason}` };
    },
  };
}

/** What its state means, who has it and what comes next. */
export function progressOf(context: PageContext, seen: SeenEvent): JSX.Element {
  const { event, isRouted, held } = seen;
  const { status, attempts, retry_at: retryAt } = event;
  return (
    <>
      <p>
        {isRouted && status === 'pending'
          ? 'A route delivers it, so agents can’t claim it.'
          : STATUS_LINES[status]}
      </p>
      {held && (
        <Facts
          facts={[
            ['Claimed by', line(held.by)],
            ['Lease ends', due(context, held.until)],
            context.may(inboxExtend) && held.leaseId !== '' && ['Lease', ours(held.leaseId)],
          ]}
        />
      )}
      {retryAt !== null && <p class="soft">Next try {due(context, retryAt)}</p>}
      {waitingFor(context, event)}
      {durationOf(seen)}
      {attempts > 0 && <p class="soft">{pluralize(attempts, 'failed attempt')} so far</p>}
    </>
  );
}

/** How long it took from its arrival to its end. */
function durationOf({ event, finishedAt }: SeenEvent): JSX.Element | null {
  const isOver = event.status === 'done' || event.status === 'dead';
  if (!isOver || finishedAt === null) return null;
  const ms = Math.max(0, finishedAt - Date.parse(event.received_at));
  return (
    <p class="soft">{ms < 1000 ? `${ms} ms` : lengthOfTime(ms)} from its arrival to its end</p>
  );
}

/** What a parked event waits for. */
function waitingFor(
  context: PageContext,
  { waiting_for: conditions, wakes_at: wakesAt }: SeenEvent['event'],
): JSX.Element | null {
  if (!conditions || wakesAt === undefined) return null;
  const facts = conditions.map(({ id, status }): FactRow => [
    status === 'pending' ? 'Waits for' : `Waited for (${status})`,
    awaited(context, id),
  ]);
  return <Facts facts={[...facts, ['Goes on', <>by {time(context, wakesAt)}</>]]} />;
}

function awaited(context: PageContext, id: string): Child {
  if (id.startsWith('req_')) return <a href={context.at('requests', id)}>a decision</a>;
  if (id.startsWith('evt_')) return <a href={context.at('events', id)}>another event</a>;
  if (id.startsWith('msg_') || id.startsWith('bat_')) return 'an answer by mail';
  return time(context, id);
}
