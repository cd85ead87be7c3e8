import type { Query, Row, Tx } from '../../engine/driver.ts';
import type { EmailStatus } from './emails.ts';

/** A mail with its thread: one that came in, or a call that sent some. */
interface ThreadedMail extends Row {
  id: string;
  /** Null for a mail of an earlier release. */
  thread_id: string | null;
}

// A mail's provider id is its Message-ID, and for a verified mail also a blank and a domain. Verified mails come first,
// because anybody can write a mail under the Message-ID of another. CROSS makes each half one range of the index per
// source: with an OR, SQLite scans the index.
const NAMED = `SELECT e.id, e.thread_id, e.verified, e.seq FROM source s CROSS JOIN event e ON e.source_id = s.id`;
const RECEIVED_AS = `SELECT id, thread_id FROM (
    ${NAMED} AND e.provider_id = ?1 WHERE s.type = 'email'
    UNION ALL ${NAMED} AND e.provider_id > ?1 || ' ' AND e.provider_id < ?1 || '!' WHERE s.type = 'email')
  ORDER BY verified DESC, seq LIMIT 1`;

/** The query that `received` runs. */
export function receivedQuery(messageId: string): Query {
  return { sql: RECEIVED_AS, params: [messageId] };
}

/** A mail in the order of all. `superseded` tells which kinds of newer mail its thread has. */
export interface ListedMail extends Row {
  /** `evt_…`, or `bat_…` for what a call sent. */
  id: string;
  thread_id: string | null;
  /** ISO 8601. */
  at: string;
  /** Where the list goes on: a seq, or the id of a batch. */
  place: string;
  newer_received: number;
  newer_sent: number;
}

/** What a list shows of a mail that came in. Null where it is purged, or too large to be in the database. */
export interface MailLine extends Row {
  id: string;
  status: string;
  verified: number;
  received_at: string;
  from_name: string | null;
  from_address: string | null;
  subject: string | null;
  words: string | null;
}

const NEWER_RECEIVED =
  'EXISTS (SELECT 1 FROM event n WHERE n.thread_id = m.thread_id AND n.received_at > m.at) AS newer_received';
const NEWER_SENT =
  'EXISTS (SELECT 1 FROM email_batch n WHERE n.thread_id = m.thread_id AND n.created_at > m.at) AS newer_sent';
const WORDS_CHARS = 160;
const MAIL_LINE = `SELECT e.id, e.status, e.verified, e.received_at,
    json_extract(j.text, '$.from.name') AS from_name, json_extract(j.text, '$.from.address') AS from_address,
    substr(json_extract(j.text, '$.subject'), 1, ${WORDS_CHARS}) AS subject,
    substr(coalesce(json_extract(j.text, '$.text_stripped'), json_extract(j.text, '$.text')), 1, ${WORDS_CHARS}) AS words
  FROM event e JOIN (SELECT c.seq, CASE WHEN c.kind = 'json' AND c.body IS NOT NULL THEN CAST(c.body AS TEXT) END AS text
    FROM event_content c) j ON j.seq = e.seq
  WHERE e.id IN (SELECT value FROM json_each(?))`;

/** The queries for lists of mails; each walks one index. */
export const MAIL_LISTS = {
  received: `SELECT m.*, ${NEWER_RECEIVED}, ${NEWER_SENT} FROM (
      SELECT id, thread_id, received_at AS at, CAST(seq AS TEXT) AS place FROM event
      WHERE channel = 'email' AND seq < ? ORDER BY seq DESC LIMIT ?) m`,
  sent: `SELECT m.*, ${NEWER_RECEIVED}, ${NEWER_SENT} FROM (
      SELECT id, thread_id, created_at AS at, id AS place FROM email_batch
      WHERE id < ? ORDER BY id DESC LIMIT ?) m`,
  receivedIn: `SELECT id, received_at AS at FROM event
      WHERE thread_id = ? AND received_at < ? ORDER BY received_at DESC LIMIT ?`,
  sentIn: `SELECT id, created_at AS at FROM email_batch
      WHERE thread_id = ? AND created_at < ? ORDER BY created_at DESC LIMIT ?`,
} as const;

/** How far a list counts; beyond that, it only says that there are more. */
const COUNTED_MAX = 1000;

/** The queries for sent mail in one state; each walks one index, with at most 50 messages for each call. */
export const SENT_IN_STATE = {
  page: `SELECT DISTINCT batch_id AS id FROM email_message
      WHERE status = ? AND batch_id < ? ORDER BY batch_id DESC LIMIT ?`,
  count: `SELECT count(*) AS count FROM (
      SELECT DISTINCT batch_id FROM email_message WHERE status = ? LIMIT ${COUNTED_MAX + 1})`,
} as const;

/** How many sent mails are in a state; `isMore`: at least that many. */
export interface MailCount {
  readonly count: number;
  readonly isMore: boolean;
}

/** The threads of a project's mails. */
export class MailThreadRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** The mail that came in with this Message-ID. */
  received(messageId: string): Promise<ThreadedMail | undefined> {
    const { sql, params } = receivedQuery(messageId);
    return this.#tx.get<ThreadedMail>(sql, params);
  }

  ofEvent(eventId: string): Promise<ThreadedMail | undefined> {
    return this.#tx.get<ThreadedMail>('SELECT id, thread_id FROM event WHERE id = ?', [eventId]);
  }

  /** The call that sent this message. */
  ofMessage(messageId: string): Promise<ThreadedMail | undefined> {
    return this.#tx.get<ThreadedMail>(
      'SELECT b.id, b.thread_id FROM email_message m JOIN email_batch b ON b.id = m.batch_id WHERE m.id = ?',
      [messageId],
    );
  }

  /** Mails that came in before a place, the newest first. */
  receivedBefore(seq: number, limit: number): Promise<ListedMail[]> {
    return this.#tx.all<ListedMail>(MAIL_LISTS.received, [seq, limit]);
  }

  /** What calls sent before a place, the newest first. */
  sentBefore(id: string, limit: number): Promise<ListedMail[]> {
    return this.#tx.all<ListedMail>(MAIL_LISTS.sent, [id, limit]);
  }

  /** The ids of calls before a place, the newest first, with a message in this state. */
  async sentInState(status: EmailStatus, before: string, limit: number): Promise<string[]> {
    const rows = await this.#tx.all<{ id: string }>(SENT_IN_STATE.page, [status, before, limit]);
    return rows.map(({ id }) => id);
  }

  /** How many calls have a message in this state. */
  async countInState(status: EmailStatus): Promise<MailCount> {
    const row = await this.#tx.get<{ count: number }>(SENT_IN_STATE.count, [status]);
    const count = row?.count ?? 0;
    return { count: Math.min(count, COUNTED_MAX), isMore: count > COUNTED_MAX };
  }

  /** The ids of a thread's mails before a time, the newest first: those that came in, or those that calls sent. */
  idsIn(
    list: 'receivedIn' | 'sentIn',
    wanted: { readonly threadId: string; readonly before: string; readonly limit: number },
  ): Promise<(Row & { id: string; at: string })[]> {
    const { threadId, before, limit } = wanted;
    return this.#tx.all(MAIL_LISTS[list], [threadId, before, limit]);
  }

  /** What a list shows of these mails, in no order. Content past its time is left out. */
  async linesOf(eventIds: readonly string[], keptSinceIso: string): Promise<MailLine[]> {
    const rows = await this.#tx.all<MailLine>(MAIL_LINE, [JSON.stringify(eventIds)]);
    return rows.map((row) =>
      row.received_at >= keptSinceIso
        ? row
        : { ...row, from_name: null, from_address: null, subject: null, words: null },
    );
  }

  async setOfEvent(id: string, threadId: string | null): Promise<void> {
    await this.#tx.put('UPDATE event SET thread_id = ? WHERE id = ?', [threadId, id]);
  }

  async setOfBatch(id: string, threadId: string | null): Promise<void> {
    await this.#tx.put('UPDATE email_batch SET thread_id = ? WHERE id = ?', [threadId, id]);
  }
}
