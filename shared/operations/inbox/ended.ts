import type { ApprovalContext } from '../../kernel/context.ts';
import { keptSince } from '../../rules/inbox/retention.ts';
import type { EventRow } from '../../store/tables/inbox/events.ts';
import { tellOutcome } from '../request/outcome.ts';
import { withdrawQuestionsOf } from '../request/withdrawal.ts';
import { wakeWaiting } from './wake.ts';

/**
 * What follows when an event is done or dead, in the same transaction: its open questions are withdrawn, the people
 * who decided learn of it, events that wait for it go on, and a payload that was kept for it past its time goes.
 */
export async function eventEnded(
  context: ApprovalContext,
  row: Pick<EventRow, 'seq' | 'id' | 'received_at'>,
  status: 'done' | 'dead',
): Promise<void> {
  const { store, now } = context;
  const { parked, asked, awaited } = await store.parks.tiesOf(row);
  if (parked) await store.parks.remove(row.seq);
  if (asked) {
    await withdrawQuestionsOf(context, row.id, { reason: `its event is ${status}.` });
    await tellOutcome(context, row.id);
  }
  if (awaited) await wakeWaiting(context, row.id, status);
  if (parked && row.received_at < keptSince(now)) await purgeOne(context, row.seq);
}

async function purgeOne({ store, emit }: ApprovalContext, seq: number): Promise<void> {
  for (const digest of await store.events.purgeAt(seq)) {
    if (await store.blobs.dropReference(digest)) emit({ kind: 'blob_dropped', digest });
  }
}
