import type { EventRow } from '../store/tables/inbox/events.ts';
import type { EventQueueRow } from '../rules/inbox/event-state.ts';

/** The part of a stored event that the state machine needs. */
export function queueRow(row: EventRow): EventQueueRow {
  return {
    status: row.status,
    attempts: row.attempts,
    lease_id: row.lease_id,
    holder_key_id: row.holder_key_id,
    due_at: row.due_at,
    routed: row.routed === 1,
  };
}
