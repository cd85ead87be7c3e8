import type { WriteContext } from '../../kernel/context.ts';
import { queueRow } from '../../kernel/queue-row.ts';
import { effective, settle } from '../../rules/inbox/event-state.ts';
import { moveEvent } from '../inbox/move.ts';

/**
 * Finishes the event that tells of a request's end, because who asked has the answer. Returns its id; null if there is
 * none, or a worker or a route has taken it.
 */
export async function closeOutcome(
  context: WriteContext,
  requestId: string,
): Promise<string | null> {
  const { store, now, emit } = context;
  const eventId = await store.requests.outcomeOf(requestId);
  const event = eventId === null ? null : await store.events.find(eventId);
  if (!event) return null;
  const verdict = settle(effective(queueRow(event), now));
  if (!verdict.ok) return null;
  await moveEvent(context, event.id, () => verdict);
  emit({ kind: 'inbox_changed' });
  return event.id;
}

/** The same for an approval that is used: whoever asked has read it. */
export async function closeUsed(
  context: WriteContext,
  { id, key_id }: { readonly id: string; readonly key_id: string },
): Promise<void> {
  if (key_id !== context.caller.keyId) return;
  const eventId = await closeOutcome(context, id);
  if (eventId !== null) await context.record('request_received', eventId, { request_id: id });
}
