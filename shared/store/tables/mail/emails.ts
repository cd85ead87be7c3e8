import type { RecipientField } from '../../../rules/mail/mail-recipients.ts';
import { contentSum, isSound, RowDamage } from '../../sums/content-sum.ts';
import type { Row, Tx } from '../../engine/driver.ts';

/** The mail of one send call, the same for each recipient. */
interface NewBatch extends Row {
  id: string;
  key_id: string;
  /** The request that a person decides, if any. */
  request_id: string | null;
  /** The address in From. */
  sender: string;
  reply_to_inbox: number;
  subject: string;
  /** Null once the content is deleted. */
  text: string | null;
  html: string | null;
  /** A JSON array of `StoredAttachment`. */
  attachments: string;
  /** An `AnsweredMail` as JSON. */
  answers: string | null;
  /** Null for a mail of an earlier release that nobody has answered since. */
  thread_id: string | null;
  created_at: string;
  /** When the content gets deleted, in milliseconds; null after that. */
  forget_at: number | null;
}

/** A stored `NewBatch`. */
export interface EmailBatchRow extends NewBatch {
  /** See `refuseDamagedMail`; null in rows of earlier releases. */
  sum: number | null;
}

export type EmailStatus = 'pending' | 'queued' | 'sent' | 'failed' | 'bounced' | 'cancelled';

/** One message to one recipient. */
export interface EmailMessageRow extends Row {
  id: string;
  batch_id: string;
  recipient: string;
  /** The field of the call that named the recipient. */
  field: RecipientField;
  /** SHA-256 of the token in the address for replies and reports. */
  token_hash: string;
  status: EmailStatus;
  attempts: number;
  /** When the next attempt is due, in milliseconds; null if none is. */
  due_at: number | null;
  /** Set before we send the first byte to a server; cleared if the server refuses the message. */
  handed_at: number | null;
  /** What went wrong, if anything. */
  code: string | null;
  reason: string | null;
  sent_at: string | null;
  /** As in `EmailBatchRow`. */
  sum: number | null;
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
  'answers',
  'thread_id',
  'created_at',
  'forget_at',
  'sum',
] as const;
const MESSAGE =
  'id, batch_id, recipient, field, token_hash, status, attempts, due_at, handed_at, code, reason, sent_at, sum';

/** What a batch's sum covers: what is sent. It means nothing once the content is deleted. */
export function batchFields(row: NewBatch) {
  const { id, key_id, request_id, sender, reply_to_inbox } = row;
  const { subject, text, html, attachments, answers } = row;
  const head = [id, key_id, request_id, sender, reply_to_inbox];
  return [...head, subject, text, html, attachments, answers];
}

type MessageHead = Pick<EmailMessageRow, 'id' | 'batch_id' | 'recipient' | 'field'>;

/** What a message's sum covers: to whom it goes. */
export function messageFields({ id, batch_id, recipient, field }: MessageHead) {
  return [id, batch_id, recipient, field];
}

/** Throws a `RowDamage` if a mail, or whom it goes to, isn't as it was written. */
export function refuseDamagedMail(
  batch: EmailBatchRow,
  messages: readonly EmailMessageRow[],
): void {
  const isWhole = batch.forget_at === null || isSound(batch.sum, batchFields(batch));
  if (!isWhole) throw new RowDamage(`mail ${batch.id}`);
  const damaged = messages.find((row) => !isSound(row.sum, messageFields(row)));
  if (damaged) throw new RowDamage(`mail ${damaged.id}`);
}

/** Outgoing mail: send calls and their messages. */
export class EmailRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async insertBatch(batch: NewBatch): Promise<void> {
    const row = { ...batch, sum: contentSum(batchFields(batch)) };
    await this.#tx.put(
      `INSERT INTO email_batch (${BATCH.join(', ')}) VALUES (${BATCH.map(() => '?').join(', ')})`,
      BATCH.map((name) => row[name] ?? null),
    );
  }

  async insertMessage(
    row: Pick<
      EmailMessageRow,
      'id' | 'batch_id' | 'recipient' | 'field' | 'token_hash' | 'status' | 'due_at'
    >,
  ): Promise<void> {
    await this.#tx.put(
      'INSERT INTO email_message (id, batch_id, recipient, field, token_hash, status, due_at, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      [
        ...messageFields(row),
        row.token_hash,
        row.status,
        row.due_at,
        contentSum(messageFields(row)),
      ],
    );
  }

  findBatch(id: string): Promise<EmailBatchRow | undefined> {
    return this.#tx.get<EmailBatchRow>(`SELECT ${BATCH.join(', ')} FROM email_batch WHERE id = ?`, [
      id,
    ]);
  }

  /** The mail that a request's mail answers, as stored; null if it answers none, or there's no such request. */
  async answersOfRequest(requestId: string): Promise<string | null> {
    const row = await this.#tx.get<{ answers: string | null }>(
      'SELECT answers FROM email_batch WHERE request_id = ?',
      [requestId],
    );
    return row?.answers ?? null;
  }

  findByRequest(requestId: string): Promise<EmailBatchRow | undefined> {
    return this.#tx.get<EmailBatchRow>(
      `SELECT ${BATCH.join(', ')} FROM email_batch WHERE request_id = ?`,
      [requestId],
    );
  }

  /** In the order of the call's recipients. */
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

  /** The ids among these that are there. */
  async known(ids: readonly string[]): Promise<string[]> {
    const rows = await this.#tx.all<{ id: string }>(
      'SELECT id FROM email_message WHERE id IN (SELECT value FROM json_each(?))',
      [JSON.stringify(ids)],
    );
    return rows.map(({ id }) => id);
  }

  findByToken(tokenHash: string): Promise<EmailMessageRow | undefined> {
    return this.#tx.get<EmailMessageRow>(
      `SELECT ${MESSAGE} FROM email_message WHERE token_hash = ?`,
      [tokenHash],
    );
  }

  /** Ids, after `afterId`, of messages that may still go out and of which we haven't sent anything yet. */
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

  /** Queues all messages of a batch that wait for a decision. */
  async queue(batchId: string, dueAt: number): Promise<void> {
    await this.#tx.put(
      "UPDATE email_message SET status = 'queued', due_at = ? WHERE batch_id = ? AND status = 'pending'",
      [dueAt, batchId],
    );
  }

  /** Cancels all messages of a batch that haven't gone out; returns how many of them nobody was sending. */
  async cancel(batchId: string): Promise<number> {
    const cancel = (also: string): Promise<number> =>
      this.#tx.run(
        `UPDATE email_message SET status = 'cancelled', due_at = NULL
         WHERE batch_id = ? AND status IN ('pending', 'queued')${also}`,
        [batchId],
      );
    const unsent = await cancel(' AND handed_at IS NULL');
    // A message that a server has at this moment isn't tried again.
    await cancel('');
    return unsent;
  }

  due(now: number, limit: number): Promise<EmailMessageRow[]> {
    return this.#tx.all<EmailMessageRow>(
      `SELECT ${MESSAGE} FROM email_message WHERE status = 'queued' AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
      [now, limit],
    );
  }

  /** Gives all of them a new due time. */
  async deferAll(ids: readonly string[], dueAt: number): Promise<void> {
    await this.#tx.put(
      'UPDATE email_message SET due_at = ? WHERE id IN (SELECT value FROM json_each(?))',
      [dueAt, JSON.stringify(ids)],
    );
  }

  /** The first due time after `now`. The senders already have the messages that are due by then. */
  async nextDueAfter(now: number): Promise<number | null> {
    const row = await this.#tx.get(
      "SELECT min(due_at) AS due FROM email_message WHERE status = 'queued' AND due_at > ?",
      [now],
    );
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  /** False if the message must no longer go out. */
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

  /** When the next batch's content gets deleted, in milliseconds. */
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

  /** Deletes the content of a batch; the recipients and times remain. */
  async forget(id: string): Promise<void> {
    await this.#tx.put(
      "UPDATE email_batch SET text = NULL, html = NULL, attachments = '[]', answers = NULL, forget_at = NULL WHERE id = ?",
      [id],
    );
  }
}
