import type { EventQueueRow, EventStatus } from '../../../rules/inbox/event-state.ts';
import type { PayloadKind } from '../../../rules/payload/payload.ts';
import { keptSince } from '../../../rules/inbox/retention.ts';
import { PAYLOAD_INLINE_MAX_BYTES } from '../../../lib/limits.ts';
import type { Row, SqlValue, Tx } from '../../engine/driver.ts';
import {
  listedEvent,
  newEventSums,
  verifiedNumber,
  SUM_COLUMNS,
  wholeEvent,
  type SummedEventRow,
} from './event-content.ts';
import { anyStateSql, candidateSql, type EventFilter } from './event-query.ts';
import { firstSeqSince } from '../seq-search.ts';
import { SourceUseRepository } from './source-use.ts';

/** A stored event: its queue state, its envelope and, on request, its content. */
export interface EventRow extends Row {
  seq: number;
  id: string;
  source_id: string | null;
  source: string;
  channel: string;
  type: string;
  received_at: string;
  /** 1: verified. 2 (`SECRET_KNOWN`): not verified, but the sender sent the source's secret along. */
  verified: number;
  trust: string;
  suspected_replay: number;
  reply_to: string | null;
  /** The thread of a mail. */
  thread_id: string | null;
  size_bytes: number;
  status: EventStatus;
  attempts: number;
  routed: number;
  lease_id: string | null;
  holder_key_id: string | null;
  due_at: number | null;
  finished_at: string | null;
  headers: string;
  content_type: string | null;
  /** How to read the bytes of the body; null once they are purged. */
  kind: PayloadKind | null;
  body: Uint8Array | null;
  blob: string | null;
  /** What a parked event waits for, as JSON; null where it isn't parked, or this was not read. */
  conditions: string | null;
  parked_at: string | null;
  wakes_on_any: number | null;
  /** Why an agent last gave it back, as JSON; null where nobody did, or this was not read. */
  reason: string | null;
}

export interface NewEvent {
  readonly id: string;
  readonly sourceId: string | null;
  readonly source: string;
  readonly channel: string;
  readonly type: string;
  readonly receivedAt: string;
  readonly verified: boolean;
  /** The sender isn't verified, but it sent the source's secret along. */
  readonly isSecretKnown?: boolean;
  readonly trust: 'external_untrusted' | 'service';
  readonly suspectedReplay: boolean;
  readonly sizeBytes: number;
  readonly providerId: string | null;
  readonly bodyHash: Uint8Array | null;
  /** The message of ours that this mail replies to. */
  readonly replyTo?: string | null;
  /** The thread of a mail. */
  readonly threadId?: string;
  /** The key that asked the request whose end this tells. */
  readonly askerKeyId?: string | undefined;
  readonly content: {
    /** JSON text of the stored headers; for a mail, of its parts. */
    readonly headers: string;
    readonly contentType: string | null;
    readonly kind: PayloadKind;
    /** The bytes, or null if they are in `blob`. */
    readonly body: Uint8Array | null;
    readonly blob: string | null;
  };
}

/** An event's position in the order of arrival. */
interface EventSeq {
  readonly seq: number;
  readonly receivedAt: string;
}

/** The content type that marks an event as a mail. */
export const MAIL_CONTENT_TYPE = 'message/rfc822';

/** The name under which jobs of a transaction share the newest event. */
const LAST = 'event.last';
/** The name under which jobs share the ids of events stored in this transaction, by source and provider id. */
const DELIVERED = 'event.delivered';

/** The newest event's seq and time. */
const LAST_EVENT = 'SELECT seq, received_at FROM event ORDER BY seq DESC LIMIT 1';

const DELIVERED_AS =
  'SELECT id FROM event WHERE source_id = ? AND provider_id = ? AND received_at >= ? ORDER BY seq DESC LIMIT 1';

export const QUEUE_COLUMNS = `e.seq, e.id, e.source_id, e.source, e.channel, e.type, e.received_at, e.verified, e.trust,
  e.suspected_replay, e.reply_to, e.thread_id, e.size_bytes, e.status, e.attempts, e.routed, e.lease_id, e.holder_key_id, e.due_at,
  e.finished_at`;
export const CONTENT_COLUMNS = 'c.headers, c.content_type, c.kind, c.blob';
export const PARK_COLUMNS = 'p.conditions, p.parked_at, p.wakes_on_any';
const SELECT_WHOLE = `SELECT ${QUEUE_COLUMNS}, e.reason, ${CONTENT_COLUMNS}, c.body, ${SUM_COLUMNS}, ${PARK_COLUMNS}
  FROM event e JOIN event_content c ON c.seq = e.seq LEFT JOIN park p ON p.seq = e.seq`;
const SELECT_QUEUE = `SELECT ${QUEUE_COLUMNS}, '{}' AS headers, NULL AS content_type, NULL AS kind, NULL AS body,
  NULL AS blob, NULL AS conditions, NULL AS parked_at, NULL AS wakes_on_any,
  NULL AS reason FROM event e`;
const FIND = `${SELECT_QUEUE} WHERE e.id = ?`;
const FIND_AT = `${SELECT_QUEUE} WHERE e.seq = ?`;
const FIND_WHOLE = `${SELECT_WHOLE} WHERE e.id = ?`;
const FIND_WHOLE_AT = `${SELECT_WHOLE} WHERE e.seq = ?`;
const OVERDUE = `${SELECT_QUEUE} WHERE e.due_at <= ? ORDER BY e.due_at LIMIT ?`;
const SELECT_BRIEF = `SELECT ${QUEUE_COLUMNS}, e.reason, ${CONTENT_COLUMNS}, ${SUM_COLUMNS}, ${PARK_COLUMNS},
  CASE WHEN e.size_bytes <= ? THEN c.body END AS body`;

/** A page of events in one state, or in all. */
interface EventPage extends Omit<EventFilter, 'status'> {
  readonly status: EventFilter['status'] | 'all';
  /** Received at or after, ISO 8601. */
  readonly since?: string | undefined;
}

/** Events and their content. Each method reads one or a few index ranges, however long the history is. */
export class EventRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** The newest event's seq and time. */
  async #last(): Promise<EventSeq> {
    const known = this.#tx.group?.carried.get(LAST) as EventSeq | undefined;
    if (known) return known;
    const row = await this.#tx.get(LAST_EVENT);
    return { seq: Number(row?.['seq'] ?? 0), receivedAt: String(row?.['received_at'] ?? '') };
  }

  /** The position of the next event. Times never decrease in arrival order, even if the clock goes back. */
  async nextPlace(nowIso: string): Promise<EventSeq> {
    const last = await this.#last();
    return {
      seq: last.seq + 1,
      receivedAt: last.receivedAt > nowIso ? last.receivedAt : nowIso,
    };
  }

  find(id: string): Promise<EventRow | undefined> {
    return this.#tx.get<EventRow>(FIND, [id]);
  }

  findAt(seq: number): Promise<EventRow | undefined> {
    return this.#tx.get<EventRow>(FIND_AT, [seq]);
  }

  async findWhole(id: string, now: number): Promise<EventRow | undefined> {
    const row = await this.#tx.get<SummedEventRow>(FIND_WHOLE, [id]);
    return row && wholeEvent(row, keptSince(now));
  }

  async findWholeAt(seq: number, now: number): Promise<EventRow | undefined> {
    const row = await this.#tx.get<SummedEventRow>(FIND_WHOLE_AT, [seq]);
    return row && wholeEvent(row, keptSince(now));
  }

  /** Oldest first, or newest first, without large bodies. Status is as of `now`, not as last stored. */
  async page(filter: EventPage): Promise<EventRow[]> {
    let { afterSeq } = filter;
    if (filter.since !== undefined) {
      const first = await firstSeqSince(this.#tx, 'event', 'received_at', filter.since);
      afterSeq = Math.max(afterSeq, first - 1);
    }
    const { status, newestFirst } = filter;
    const { sql, params } =
      status === 'all'
        ? anyStateSql({ ...filter, afterSeq })
        : candidateSql({ ...filter, status, afterSeq });
    // CROSS fixes the join order: first the page, then its rows.
    const rows = await this.#tx.all<SummedEventRow>(
      `${SELECT_BRIEF} FROM (${sql}) AS candidate CROSS JOIN event e ON e.seq = candidate.seq CROSS JOIN event_content c ON c.seq = e.seq LEFT JOIN park p ON p.seq = e.seq ORDER BY e.seq${newestFirst ? ' DESC' : ''}`,
      [PAYLOAD_INLINE_MAX_BYTES, ...params],
    );
    const since = keptSince(filter.now);
    return rows.map((row) => listedEvent(row, since));
  }

  /** The latest event of a source with this provider id since a time, or null. */
  async deliveredAs(
    sourceId: string,
    providerId: string,
    sinceIso: string,
  ): Promise<string | null> {
    const carried = this.#tx.group?.carried.get(DELIVERED) as Map<string, string> | undefined;
    const known = carried?.get(`${sourceId} ${providerId}`);
    if (known !== undefined) return known;
    const params = [sourceId, providerId, sinceIso];
    const row = await this.#tx.get<{ id: string }>(DELIVERED_AS, params);
    return row?.id ?? null;
  }

  /** The latest event of a source with the same bytes and no provider id since a time, or null. */
  async deliveredBody(
    sourceId: string,
    hash: Uint8Array,
    sinceIso: string,
  ): Promise<string | null> {
    const row = await this.#tx.get<{ id: string }>(
      'SELECT id FROM event WHERE source_id = ? AND body_hash = ? AND provider_id IS NULL AND received_at >= ? ORDER BY seq DESC LIMIT 1',
      [sourceId, hash, sinceIso],
    );
    return row?.id ?? null;
  }

  /** The event with this seq, if it has this source and these bytes and arrived since a time; otherwise null. */
  async deliveredAt(
    seq: number,
    same: { readonly sourceId: string; readonly hash: Uint8Array; readonly sinceIso: string },
  ): Promise<string | null> {
    const row = await this.#tx.get<{ id: string }>(
      'SELECT id FROM event WHERE seq = ? AND source_id = ? AND body_hash = ? AND received_at >= ?',
      [seq, same.sourceId, same.hash, same.sinceIso],
    );
    return row?.id ?? null;
  }

  /** The bodies that arrived since a time: the newest `limit` of them, oldest first. */
  async bodiesSince(
    sinceIso: string,
    limit: number,
    afterSeq: number,
  ): Promise<{ seq: number; source_id: string; body_hash: Uint8Array }[]> {
    // `afterSeq` from the last read saves the search.
    const first =
      afterSeq > 0 ? afterSeq + 1 : await firstSeqSince(this.#tx, 'event', 'received_at', sinceIso);
    const rows = await this.#tx.all<{ seq: number; source_id: string; body_hash: Uint8Array }>(
      'SELECT seq, source_id, body_hash FROM event WHERE seq >= ? AND body_hash IS NOT NULL AND source_id IS NOT NULL ORDER BY seq DESC LIMIT ?',
      [first, limit],
    );
    return rows.toReversed();
  }

  async insert(event: NewEvent, seq: number): Promise<void> {
    const { content } = event;
    const sums = newEventSums(event);
    await this.#tx.put(
      `INSERT INTO event (seq, id, source_id, source, channel, type, received_at, verified, trust, suspected_replay,
         size_bytes, provider_id, body_hash, reply_to, thread_id, asker_key_id, head_sum, body_sum, status)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')`,
      [
        seq,
        event.id,
        event.sourceId,
        event.source,
        event.channel,
        event.type,
        event.receivedAt,
        verifiedNumber(event),
        event.trust,
        event.suspectedReplay ? 1 : 0,
        event.sizeBytes,
        event.providerId,
        event.bodyHash,
        event.replyTo ?? null,
        event.threadId ?? null,
        event.askerKeyId ?? null,
        sums.head_sum,
        sums.body_sum,
      ],
    );
    await this.#tx.put(
      'INSERT INTO event_content (seq, headers, content_type, kind, body, blob) VALUES (?, ?, ?, ?, ?, ?)',
      [seq, content.headers, content.contentType, content.kind, content.body, content.blob],
    );
    this.#carry(event, seq);
  }

  #carry({ id, sourceId, providerId, receivedAt }: NewEvent, seq: number): void {
    const carried = this.#tx.group?.carried;
    if (!carried) return;
    carried.set(LAST, { seq, receivedAt });
    if (sourceId === null || providerId === null) return;
    const delivered = (carried.get(DELIVERED) as Map<string, string> | undefined) ?? new Map();
    carried.set(DELIVERED, delivered.set(`${sourceId} ${providerId}`, id));
  }

  /** Stores a decision of the state machine. */
  async setQueue(seq: number, next: EventQueueRow, finishedAt: string | null): Promise<void> {
    await this.#tx.put(
      'UPDATE event SET status = ?, attempts = ?, lease_id = ?, holder_key_id = ?, due_at = ?, finished_at = ? WHERE seq = ?',
      [next.status, next.attempts, next.lease_id, next.holder_key_id, next.due_at, finishedAt, seq],
    );
  }

  /** An event that nobody has to work is done as soon as it is stored. */
  async setDone(seq: number, finishedAt: string): Promise<void> {
    await this.#tx.put("UPDATE event SET status = 'done', finished_at = ? WHERE seq = ?", [
      finishedAt,
      seq,
    ]);
  }

  /** The first mail that answers one of these messages of ours, or null. */
  async answerTo(messageIds: readonly string[]): Promise<string | null> {
    const row = await this.#tx.get<{ id: string }>(
      'SELECT id FROM event WHERE reply_to IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT 1',
      [JSON.stringify(messageIds)],
    );
    return row?.id ?? null;
  }

  /** Stores what the agent said when it finished, as JSON text. */
  async setRemark(seq: number, column: 'result' | 'reason', json: string | null): Promise<void> {
    await this.#tx.put(`UPDATE event SET ${column} = ? WHERE seq = ?`, [json, seq]);
  }

  /** Reads what `setRemark` stored. */
  async remarksOf(seq: number): Promise<{ result: string | null; reason: string | null }> {
    const row = await this.#tx.get<{ result: string | null; reason: string | null }>(
      'SELECT result, reason FROM event WHERE seq = ?',
      [seq],
    );
    return { result: row?.result ?? null, reason: row?.reason ?? null };
  }

  /** Events whose lease or backoff has ended, but whose row doesn't say so yet. */
  overdue(now: number, limit: number): Promise<EventRow[]> {
    return this.#tx.all<EventRow>(OVERDUE, [now, limit]);
  }

  async nextDue(): Promise<number | null> {
    const row = await this.#tx.get('SELECT min(due_at) AS due FROM event WHERE due_at IS NOT NULL');
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  /** The oldest event whose payload we still have, according to the watermark of the last purge. */
  async oldestKept(): Promise<{ seq: number; receivedAt: string } | null> {
    const row = await this.#tx.get(
      "SELECT seq, received_at FROM event WHERE seq > coalesce((SELECT value FROM meta WHERE name = 'purged_seq'), 0) ORDER BY seq LIMIT 1",
    );
    return row ? { seq: Number(row['seq']), receivedAt: String(row['received_at']) } : null;
  }

  /** Deletes up to `limit` payloads received before a time; returns how many, and the blobs they referred to. */
  async purge(beforeIso: string, limit: number): Promise<{ count: number; blobs: string[] }> {
    const oldest = await this.oldestKept();
    if (!oldest || oldest.receivedAt >= beforeIso) return { count: 0, blobs: [] };
    const end = await firstSeqSince(this.#tx, 'event', 'received_at', beforeIso);
    const upTo = Math.min(end - 1, oldest.seq + limit - 1);
    const purged = await this.#purgeRange(oldest.seq, upTo);
    await this.#tx.put(
      "INSERT INTO meta (name, value) VALUES ('purged_seq', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      [upTo],
    );
    return purged;
  }

  /** Deletes the payload of one event that isn't parked any more; returns the blobs it named. */
  async purgeAt(seq: number): Promise<string[]> {
    return (await this.#purgeRange(seq, seq)).blobs;
  }

  async #purgeRange(first: number, last: number): Promise<{ count: number; blobs: string[] }> {
    const range: SqlValue[] = [first, last];
    await new SourceUseRepository(this.#tx).release(first, last);
    const free = 'NOT IN (SELECT seq FROM park WHERE seq BETWEEN ?1 AND ?2)';
    const blobs = await this.#tx.all(
      `SELECT blob FROM event_content WHERE seq BETWEEN ?1 AND ?2 AND seq ${free} AND blob IS NOT NULL
       UNION ALL SELECT digest AS blob FROM event_file WHERE event_seq BETWEEN ?1 AND ?2 AND event_seq ${free}`,
      range,
    );
    await this.#tx.put(
      `UPDATE event SET head_sum = 0, body_sum = NULL WHERE seq BETWEEN ?1 AND ?2 AND seq ${free}`,
      range,
    );
    await this.#tx.put(
      `DELETE FROM event_file WHERE event_seq BETWEEN ?1 AND ?2 AND event_seq ${free}`,
      range,
    );
    const count = await this.#tx.run(
      `UPDATE event_content SET kind = NULL, body = NULL, blob = NULL,
         headers = CASE (SELECT channel FROM event e WHERE e.seq = event_content.seq) WHEN 'email' THEN '{}' ELSE headers END
       WHERE seq BETWEEN ?1 AND ?2 AND seq ${free}`,
      range,
    );
    return { count, blobs: blobs.map((row) => String(row['blob'])) };
  }
}
