import type { WriteContext } from '../../context.ts';
import { ServiceError } from '../../errors.ts';
import type { EventQueueRow, EventStateCode } from '../../rules/event-state.ts';
import type { EventRow } from '../../store/events.ts';
import { queueRow } from '../../store/queue-row.ts';

type Verdict<V> = ({ ok: true; next: EventQueueRow } & V) | { ok: false; code: EventStateCode };

/** Loads an event, lets the state machine decide, and writes what it decided; its refusals become errors. */
export async function moveEvent<V>(
  context: WriteContext,
  eventId: string,
  decide: (row: EventQueueRow) => Verdict<V>,
): Promise<{ row: EventRow; verdict: { ok: true; next: EventQueueRow } & V }> {
  const { store, now } = context;
  const row = await store.events.find(eventId);
  if (!row) throw new ServiceError('NOT_FOUND');
  const verdict = decide(queueRow(row));
  if (!verdict.ok) throw new ServiceError(verdict.code);
  const { status } = verdict.next;
  const closed = status === 'done' || status === 'dead';
  const finishedAt = closed ? (row.finished_at ?? new Date(now).toISOString()) : null;
  await store.events.setQueue(row.seq, verdict.next, finishedAt);
  return { row, verdict };
}
