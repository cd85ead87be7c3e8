import type { Row, Tx } from './driver.ts';

/** A mail with its thread: one that came in, or a call that sent some. */
interface ThreadedMail extends Row {
  id: string;
  /** Null for a mail of an earlier release. */
  thread_id: string | null;
}

// A mail's provider id is its Message-ID, and for a verified mail also a blank and a domain. Verified mails come first,
// because anybody can write a mail under the Message-ID of another.
const RECEIVED_AS = `SELECT id, thread_id FROM event
  WHERE source_id IN (SELECT id FROM source WHERE type = 'email')
    AND (provider_id = ?1 OR (provider_id > ?1 || ' ' AND provider_id < ?1 || '!'))
  ORDER BY verified DESC, seq LIMIT 1`;

/** The threads of a project's mails. */
export class MailThreadRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** The mail that came in with this Message-ID. */
  received(messageId: string): Promise<ThreadedMail | undefined> {
    return this.#tx.get<ThreadedMail>(RECEIVED_AS, [messageId]);
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
