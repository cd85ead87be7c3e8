import type { Row, Tx } from './driver.ts';

/** What one call sends, the same to each recipient. */
export interface EmailBatchRow extends Row {
  id: string;
  key_id: string;
  /** The request that a person decides, if one does. */
  request_id: string | null;
  /** The address in From. */
  sender: string;
  reply_to_inbox: number;
  subject: string;
  /** Null once it is forgotten. */
  text: string | null;
  html: string | null;
  /** JSON array of `StoredAttachment`. */
  attachments: string;
  created_at: string;
  /** When its content is deleted, in milliseconds; null once it is. */
  forget_at: number | null;
}

type EmailStatus = 'pending' | 'queued' | 'sent' | 'failed' | 'bounced' | 'cancelled';

/** One message to one recipient. */
export interface EmailMessageRow extends Row {
  id: string;
  batch_id: string;
  recipient: string;
  /** SHA-256 of what stands in the address that replies and reports come back to. */
  token_hash: string;
  status: EmailStatus;
  attempts: number;
  /** When it is tried (again), in milliseconds; null once it is not. */
  due_at: number | null;
  /** Set before its first byte goes to a server, and cleared when that has refused it. */
  handed_at: number | null;
  /** What became of it, where that is nothing good. */
  code: string | null;
  reason: string | null;
  sent_at: string | null;
}

const BATCH = [
  'id',
  'key_id',
  'request_id',
  'sender',
  'reply_to_inbox',
  'subject',
  'text',
  'html',
  'attachments',
  'created_at',
  'forget_at',
] as const;
const MESSAGE =
  'id, batch_id, recipient, token_hash, status, attempts, due_at, handed_at, code, reason, sent_at';

/** Mails that go out: calls, and the messages each of them makes. */
export class EmailRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async insertBatch(row: EmailBatchRow): Promise<void> {
    await this.#tx.put(
      `INSERT INTO email_batch (${BATCH.join(', ')}) VALUES (${BATCH.map(() => '?').join(', ')})`,
      BATCH.map((name) => row[name]),
    );
  }

  async insertMessage(
    row: Pick<
      EmailMessageRow,
      'id' | 'batch_id' | 'recipient' | 'token_hash' | 'status' | 'due_at'
    >,
  ): Promise<void> {
    await this.#tx.put(
      'INSERT INTO email_message (id, batch_id, recipient, token_hash, status, due_at) VALUES (?, ?, ?, ?, ?, ?)',
      [row.id, row.batch_id, row.recipient, row.token_hash, row.status, row.due_at],
    );
  }

  findBatch(id: string): Promise<EmailBatchRow | undefined> {
    return this.#tx.get<EmailBatchRow>(`SELECT ${BATCH.join(', ')} FROM email_batch WHERE id = ?`, [
      id,
    ]);
  }

  findByRequest(requestId: string): Promise<EmailBatchRow | undefined> {
    return this.#tx.get<EmailBatchRow>(
      `SELECT ${BATCH.join(', ')} FROM email_batch WHERE request_id = ?`,
      [requestId],
    );
  }

  /** In the order in which the call named the recipients. */
  messagesOf(batchId: string): Promise<EmailMessageRow[]> {
    return this.#tx.all<EmailMessageRow>(
      `SELECT ${MESSAGE} FROM email_message WHERE batch_id = ? ORDER BY id`,
      [batchId],
    );
  }

  find(messageId: string): Promise<EmailMessageRow | undefined> {
    return this.#tx.get<EmailMessageRow>(`SELECT ${MESSAGE} FROM email_message WHERE id = ?`, [
      messageId,
    ]);
  }

  findByToken(tokenHash: string): Promise<EmailMessageRow | undefined> {
    return this.#tx.get<EmailMessageRow>(
      `SELECT ${MESSAGE} FROM email_message WHERE token_hash = ?`,
      [tokenHash],
    );
  }

  /** Ids of messages of which nothing has left yet and something may, behind one of them. */
  async unsent(afterId: string, limit: number): Promise<string[]> {
    const rows = await this.#tx.all<{ id: string }>(
      "SELECT id FROM email_message WHERE id > ? AND status IN ('pending', 'queued') AND handed_at IS NULL ORDER BY id LIMIT ?",
      [afterId, limit],
    );
    return rows.map(({ id }) => id);
  }

  async setTokenHash(id: string, tokenHash: string): Promise<void> {
    await this.#tx.put('UPDATE email_message SET token_hash = ? WHERE id = ?', [tokenHash, id]);
  }

  /** A decision for all messages of a batch that wait for it; answers how many. */
  decide(batchId: string, status: 'queued' | 'cancelled', dueAt: number | null): Promise<number> {
    return this.#tx.run(
      "UPDATE email_message SET status = ?, due_at = ? WHERE batch_id = ? AND status = 'pending'",
      [status, dueAt, batchId],
    );
  }

  due(now: number, limit: number): Promise<EmailMessageRow[]> {
    return this.#tx.all<EmailMessageRow>(
      `SELECT ${MESSAGE} FROM email_message WHERE status = 'queued' AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
      [now, limit],
    );
  }

  /** Makes all of them due at another time. */
  async deferAll(ids: readonly string[], dueAt: number): Promise<void> {
    await this.#tx.put(
      'UPDATE email_message SET due_at = ? WHERE id IN (SELECT value FROM json_each(?))',
      [dueAt, JSON.stringify(ids)],
    );
  }

  /** When something falls due after a time; what is due by then is in the hands of those who send it. */
  async nextDueAfter(now: number): Promise<number | null> {
    const row = await this.#tx.get(
      "SELECT min(due_at) AS due FROM email_message WHERE status = 'queued' AND due_at > ?",
      [now],
    );
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  /** False when it is not to be sent any more. */
  async setHanded(id: string, at: number): Promise<boolean> {
    const changed = await this.#tx.run(
      "UPDATE email_message SET handed_at = ? WHERE id = ? AND status = 'queued'",
      [at, id],
    );
    return changed > 0;
  }

  async setSent(id: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      "UPDATE email_message SET status = 'sent', attempts = attempts + 1, due_at = NULL, handed_at = NULL, code = NULL, reason = NULL, sent_at = ? WHERE id = ?",
      [nowIso, id],
    );
  }

  async retryAt(id: string, dueAt: number, reason: string): Promise<void> {
    await this.#tx.put(
      'UPDATE email_message SET attempts = attempts + 1, due_at = ?, handed_at = NULL, reason = ? WHERE id = ?',
      [dueAt, reason, id],
    );
  }

  async end(
    id: string,
    status: 'failed' | 'bounced',
    why: { readonly code: string; readonly reason: string },
  ): Promise<void> {
    await this.#tx.put(
      'UPDATE email_message SET status = ?, due_at = NULL, handed_at = NULL, code = ?, reason = ? WHERE id = ?',
      [status, why.code, why.reason, id],
    );
  }

  /** When the content of the next batch is to be forgotten, in milliseconds. */
  async nextForget(): Promise<number | null> {
    const row = await this.#tx.get('SELECT min(forget_at) AS due FROM email_batch');
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  forgettable(now: number, limit: number): Promise<EmailBatchRow[]> {
    return this.#tx.all<EmailBatchRow>(
      `SELECT ${BATCH.join(', ')} FROM email_batch WHERE forget_at <= ? ORDER BY forget_at LIMIT ?`,
      [now, limit],
    );
  }

  /** Deletes what was in it; who was sent something, and when, stays. */
  async forget(id: string): Promise<void> {
    await this.#tx.put(
      "UPDATE email_batch SET text = NULL, html = NULL, attachments = '[]', forget_at = NULL WHERE id = ?",
      [id],
    );
  }
}
