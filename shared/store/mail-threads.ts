import type { Query, Row, Tx } from './driver.ts';

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

  async setOfEvent(id: string, threadId: string | null): Promise<void> {
    await this.#tx.put('UPDATE event SET thread_id = ? WHERE id = ?', [threadId, id]);
  }

  async setOfBatch(id: string, threadId: string | null): Promise<void> {
    await this.#tx.put('UPDATE email_batch SET thread_id = ? WHERE id = ?', [threadId, id]);
  }
}
