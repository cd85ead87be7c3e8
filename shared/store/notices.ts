import type { ChannelKind } from './channels.ts';
import type { Row, Tx } from './driver.ts';

/** `ask` has a link that decides; `tell` has none; `over` takes the buttons off a message; `verify` confirms an address. */
export type NoticeKind = 'ask' | 'tell' | 'over' | 'verify';

export interface NoticeRow extends Row {
  id: string;
  kind: NoticeKind;
  channel_id: string;
  request_id: string | null;
  /** Sealed: so that sending can be repeated. Null where there is no link. */
  token: Uint8Array | null;
  token_hash: string | null;
  /** `queued`, `sent`, `failed`, or `void` when there is nothing left to say. */
  status: string;
  attempts: number;
  due_at: number | null;
  /** What the channel calls the message. */
  message_id: string | null;
  /** Why it was not sent. */
  reason: string | null;
  created_at: string;
  sent_at: string | null;
}

/** Also of a channel that was removed. */
export interface ChannelNotice extends NoticeRow {
  channel_kind: ChannelKind;
}

const COLUMNS =
  'id, kind, channel_id, request_id, token, token_hash, status, attempts, due_at, message_id, reason, created_at, sent_at';

/** What people are sent, and what became of it. */
export class NoticeRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(id: string): Promise<NoticeRow | undefined> {
    return this.#tx.get<NoticeRow>(`SELECT ${COLUMNS} FROM notice WHERE id = ?`, [id]);
  }

  findByToken(tokenHash: string): Promise<NoticeRow | undefined> {
    return this.#tx.get<NoticeRow>(`SELECT ${COLUMNS} FROM notice WHERE token_hash = ?`, [
      tokenHash,
    ]);
  }

  /** The request that a message of a channel asked about. */
  findByMessage(channelId: string, messageId: string): Promise<NoticeRow | undefined> {
    return this.#tx.get<NoticeRow>(
      `SELECT ${COLUMNS} FROM notice WHERE channel_id = ? AND message_id = ? AND kind = 'ask'`,
      [channelId, messageId],
    );
  }

  /** What was sent about a request, oldest first. */
  ofRequest(requestId: string): Promise<ChannelNotice[]> {
    return this.#tx.all<ChannelNotice>(
      `SELECT ${COLUMNS}, (SELECT kind FROM channel WHERE id = channel_id) AS channel_kind
       FROM notice WHERE request_id = ? ORDER BY id`,
      [requestId],
    );
  }

  async insert(row: Omit<NoticeRow, 'message_id' | 'reason' | 'sent_at'>): Promise<void> {
    await this.#tx.put(
      'INSERT INTO notice (id, kind, channel_id, request_id, token, token_hash, status, attempts, due_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        row['id'] as string,
        row['kind'] as string,
        row['channel_id'] as string,
        row['request_id'] as string | null,
        row['token'] as Uint8Array | null,
        row['token_hash'] as string | null,
        row['status'] as string,
        row['attempts'] as number,
        row['due_at'] as number | null,
        row['created_at'] as string,
      ],
    );
  }

  due(now: number, limit: number): Promise<NoticeRow[]> {
    return this.#tx.all<NoticeRow>(
      `SELECT ${COLUMNS} FROM notice WHERE status = 'queued' AND due_at <= ? ORDER BY due_at LIMIT ?`,
      [now, limit],
    );
  }

  /** Makes all of them due at another time. */
  async deferAll(ids: readonly string[], dueAt: number): Promise<void> {
    await this.#tx.put(
      'UPDATE notice SET due_at = ? WHERE id IN (SELECT value FROM json_each(?))',
      [dueAt, JSON.stringify(ids)],
    );
  }

  /** When something falls due after a time; what is due by then is in the hands of those who send it. */
  async nextDueAfter(now: number): Promise<number | null> {
    const row = await this.#tx.get(
      "SELECT min(due_at) AS due FROM notice WHERE status = 'queued' AND due_at > ?",
      [now],
    );
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  async sent(id: string, messageId: string | null, nowIso: string): Promise<void> {
    await this.#tx.put(
      "UPDATE notice SET status = 'sent', attempts = attempts + 1, due_at = NULL, message_id = ?, reason = NULL, sent_at = ? WHERE id = ?",
      [messageId, nowIso, id],
    );
  }

  async later(id: string, dueAt: number, reason: string): Promise<void> {
    await this.#tx.put(
      'UPDATE notice SET attempts = attempts + 1, due_at = ?, reason = ? WHERE id = ?',
      [dueAt, reason, id],
    );
  }

  async end(id: string, status: 'failed' | 'void', reason: string | null): Promise<void> {
    await this.#tx.put(
      'UPDATE notice SET status = ?, due_at = NULL, reason = coalesce(?, reason) WHERE id = ?',
      [status, reason, id],
    );
  }

  /** A link that confirms an address and was not sent yet is not sent any more. */
  async endVerifying(channelId: string): Promise<void> {
    await this.#tx.put(
      "UPDATE notice SET token = NULL, status = 'void', due_at = NULL WHERE request_id IS NULL AND channel_id = ? AND kind = 'verify' AND status = 'queued'",
      [channelId],
    );
  }

  /** The links and buttons of a channel stop working, and nothing more is sent to it. */
  async endOfChannel(channelId: string): Promise<void> {
    await this.#tx.put(
      "UPDATE notice SET token = NULL, token_hash = NULL, due_at = NULL, status = CASE status WHEN 'queued' THEN 'void' ELSE status END WHERE channel_id = ?",
      [channelId],
    );
  }
}
