import { SECRET_KNOWN } from '../../../rules/inbox/verified.ts';
import { contentSum, isSound, RowDamage } from '../../sums/content-sum.ts';
import type { EventRow, NewEvent } from './events.ts';

/** The sums of an event's content; null in rows of earlier releases. They mean nothing once the payload is purged. */
interface EventSums {
  head_sum: number | null;
  body_sum: number | null;
}

export type SummedEventRow = EventRow & EventSums;

export const SUM_COLUMNS = 'e.head_sum, e.body_sum';

/** What an event says and never changes, besides its body. */
type EventHead = Pick<
  EventRow,
  | 'id'
  | 'source'
  | 'channel'
  | 'type'
  | 'received_at'
  | 'verified'
  | 'trust'
  | 'size_bytes'
  | 'headers'
  | 'content_type'
  | 'kind'
  | 'blob'
>;

export function eventSums(row: EventHead & Pick<EventRow, 'body'>): EventSums {
  return {
    head_sum: contentSum(headFields(row)),
    body_sum: row.body && contentSum([], row.body),
  };
}

/** How a row says what is known of the sender. */
export function verifiedNumber({
  verified,
  isSecretKnown,
}: Pick<NewEvent, 'verified' | 'isSecretKnown'>): number {
  if (verified) return 1;
  return isSecretKnown ? SECRET_KNOWN : 0;
}

/** Of an event that is about to be stored. */
export function newEventSums({ content, ...event }: NewEvent): EventSums {
  return eventSums({
    ...content,
    id: event.id,
    source: event.source,
    channel: event.channel,
    type: event.type,
    received_at: event.receivedAt,
    verified: verifiedNumber(event),
    trust: event.trust,
    size_bytes: event.sizeBytes,
    content_type: content.contentType,
  });
}

function headFields(row: EventHead) {
  const { id, source, channel, type, received_at, verified, trust, size_bytes } = row;
  const { headers, content_type, kind, blob } = row;
  const envelope = [id, source, channel, type, received_at, verified, trust, size_bytes];
  return [...envelope, headers, content_type, kind, blob];
}

/** Whether an event that hasn't been purged is as it was written. */
export function isWholeEvent(row: SummedEventRow): boolean {
  if (!isSound(row.head_sum, headFields(row))) return false;
  // Lists leave out large bodies.
  return row.body === null || isSound(row.body_sum, [], row.body);
}

/** An event that is read alone, as it is kept. Throws a `RowDamage` if its content isn't as it was written. */
export function wholeEvent(row: SummedEventRow, since: string): EventRow {
  const kept = asKept(row, since);
  if (kept.kind !== null && !isWholeEvent(row)) throw new RowDamage(`event ${row.id}`);
  return kept;
}

/** An event in a list, as it is kept: without its content if that isn't as it was written, so that the others can be read. */
export function listedEvent(row: SummedEventRow, since: string): EventRow {
  const kept = asKept(row, since);
  if (kept.kind === null || isWholeEvent(row)) return kept;
  return { ...kept, headers: '{}', body: null, blob: null };
}

/**
 * Shows an event past its retention as a purge would leave it, because the purge may run much later. A parked event keeps
 * its payload until it ends.
 */
function asKept(row: EventRow, since: string): EventRow {
  if (row.received_at >= since || row.parked_at !== null) return row;
  const headers = row.channel === 'email' ? '{}' : row.headers;
  return { ...row, headers, kind: null, body: null, blob: null };
}
