import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { notFound, ServiceError } from '../../lib/errors.ts';
import { effective, type EventQueueRow, type EventStateCode } from '../../rules/event-state.ts';
import type { EventRow } from '../../store/events.ts';
import { queueRow } from '../../kernel/queue-row.ts';
import { eventEnded } from './ended.ts';
import { recordResumed } from './wake.ts';

type Verdict<V> = ({ ok: true; next: EventQueueRow } & V) | { ok: false; code: EventStateCode };

/** Loads an event, lets the state machine decide, and writes the decision. A refusal becomes a ServiceError. */
export async function moveEvent<V>(
  context: WriteContext,
  eventId: string,
  decide: (row: EventQueueRow) => Verdict<V>,
): Promise<{ row: EventRow; verdict: { ok: true; next: EventQueueRow } & V }> {
  const { store, now } = context;
  const row = await store.events.find(eventId);
  if (!row) throw notFound(`event ${eventId}`);
  const current = effective(queueRow(row), now);
  const verdict = decide(current);
  if (!verdict.ok) throw new ServiceError(verdict.code);
  await recordTime(context, row, current);
  const { status, due_at } = verdict.next;
  if (due_at !== null) context.emit({ kind: 'due', at: due_at });
  const closed = status === 'done' || status === 'dead';
  const finishedAt = closed ? (row.finished_at ?? isoTime(now)) : null;
  await store.events.setQueue(row.seq, verdict.next, finishedAt);
  if (closed && row.status !== status) await eventEnded(context, row, status);
  return { row, verdict };
}

/** What time has done is recorded before what follows from it. */
async function recordTime(
  context: WriteContext,
  row: EventRow,
  current: EventQueueRow,
): Promise<void> {
  if (row.status === 'claimed' && current.status !== 'claimed') {
    await context.recordService('lease.expired', row.id);
  }
  if (row.status === 'waiting' && current.status === 'pending') {
    await recordResumed(context, row, 'time');
  }
}
