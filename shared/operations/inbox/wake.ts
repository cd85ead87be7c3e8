import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { queueRow } from '../../kernel/queue-row.ts';
import { SERVICE, type Actor } from '../../rules/actor.ts';
import { wake } from '../../rules/inbox/event-state.ts';
import { asOf, judgePark } from '../../rules/inbox/park.ts';
import type { EventRow } from '../../store/tables/inbox/events.ts';
import type { ParkRow } from '../../store/tables/inbox/parks.ts';

type Waking = Pick<ApprovalContext, 'store' | 'now' | 'record' | 'emit'>;

/**
 * Something that events wait for has ended: in the same transaction those that need nothing else are pending again.
 * Answers whether any event waited for it.
 */
export async function wakeWaiting(context: Waking, ref: string, status: string): Promise<boolean> {
  const { store } = context;
  const waiting = await store.parks.waitingFor(ref);
  for (const seq of waiting) {
    const row = await store.events.findAt(seq);
    const park = await store.parks.find(seq);
    if (row?.status === 'waiting' && park) await endCondition(context, row, park, { ref, status });
  }
  return waiting.length > 0;
}

async function endCondition(
  context: Waking,
  row: EventRow,
  park: ParkRow,
  { ref, status }: { readonly ref: string; readonly status: string },
): Promise<void> {
  const { store, now, emit } = context;
  const conditions = park.conditions.map((one) => (one.id === ref ? { ...one, status } : one));
  const changed = { ...park, conditions };
  const verdict = judgePark(changed, now);
  if (verdict.wakes) {
    await store.events.setQueue(row.seq, wake(queueRow(row)), null);
    await saveResumed(context, row, { ...changed, because: verdict.because });
    emit({ kind: 'event_ready', source: row.source, type: row.type });
    emit({ kind: 'inbox_changed' });
    return;
  }
  await store.parks.save(row.seq, changed);
  await store.events.setQueue(row.seq, { ...queueRow(row), due_at: verdict.dueAt }, null);
  if (verdict.dueAt !== null) emit({ kind: 'due', at: verdict.dueAt });
}

/** Records that a waiting event continues: a person moved it, or its time has come. The caller moves the event. */
export async function recordResumed(
  context: Waking,
  row: EventRow,
  by: 'time' | 'hand',
): Promise<void> {
  const { store, now } = context;
  const park = await store.parks.find(row.seq);
  if (!park) return;
  const verdict = judgePark(park, now);
  const because = by === 'time' && verdict.wakes ? verdict.because : 'requeued';
  const actor = by === 'time' ? SERVICE : undefined;
  await saveResumed(context, row, { ...park, because }, actor);
}

/** Keeps for the next claim what woke the event, and records it. */
export async function saveResumed(
  { store, now, record }: Waking,
  row: EventRow,
  park: ParkRow,
  by?: Actor,
): Promise<void> {
  const conditions = park.conditions.map((one) => asOf(one, now));
  await store.parks.save(row.seq, { ...park, conditions });
  const ended = conditions.map(({ id, status }) => ({ id, status }));
  const about = { at: isoTime(now), because: park.because, ended };
  await record('event.resumed', row.id, about, { by });
}
