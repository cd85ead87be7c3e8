import type { ChannelKind } from './channels.ts';
import type { Row, Tx } from '../../engine/driver.ts';

/**
 * `ask` has a link for deciding; `voted` edits its message once somebody approved and more people must; `tell` has no link; `over` edits a message that asked: its buttons go, and it shows how
 * the request ended and what became of it. `check` does the same if nobody took up the event by then. `outcome` is a reply
 * to the mail that asked. `verify` verifies an address.
 * `invite` invites a member, whose id is then in place of a channel's. `digest` lists the held notices of the key in `about`. `limited` tells the
 * owner that events are refused; `access` that there is a new member, key or route.
 */
export type NoticeKind =
  | 'ask'
  | 'tell'
  | 'over'
  | 'check'
  | 'outcome'
  | 'voted'
  | 'verify'
  | 'invite'
  | 'digest'
  | 'limited'
  | 'access';

export interface NoticeRow extends Row {
  id: string;
  kind: NoticeKind;
  channel_id: string;
  request_id: string | null;
  /** The notice whose message this one edits; for a digest, its key; for `limited`, the event that tells the inbox the same; for `access`, the member, key or route. */
  about: string | null;
  /** The sealed link token, so that sending can be retried. Null without a link. */
  token: Uint8Array | null;
  token_hash: string | null;
  /** `queued`, `held` for a digest, `sent`, told in a `digest`, `failed`, or `void` if it no longer needs sending. */
  status: string;
  attempts: number;
  due_at: number | null;
  /** The channel's own id for the message. */
  message_id: string | null;
  /** Why it wasn't sent. */
  reason: string | null;
  created_at: string;
  sent_at: string | null;
  /** 1 once it was counted against the budget of its key. */
  admitted: number;
}

/** A notice with its channel's kind, even if the channel was removed. */
export interface ChannelNotice extends NoticeRow {
  channel_kind: ChannelKind;
}

const COLUMNS =
  'id, kind, channel_id, request_id, about, token, token_hash, status, attempts, due_at, message_id, reason, created_at, sent_at, admitted';

/** Notices to people, and whether they were sent. */
export class NoticeRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(id: string): Promise<NoticeRow | undefined> {
    return this.#tx.get<NoticeRow>(`SELECT ${COLUMNS} FROM notice WHERE id = ?`, [id]);
  }

  /** The ids among these that are there. */
  async known(ids: readonly string[]): Promise<string[]> {
    const rows = await this.#tx.all<{ id: string }>(
      'SELECT id FROM notice WHERE id IN (SELECT value FROM json_each(?))',
      [JSON.stringify(ids)],
    );
    return rows.map(({ id }) => id);
  }

  findByToken(tokenHash: string): Promise<NoticeRow | undefined> {
    return this.#tx.get<NoticeRow>(`SELECT ${COLUMNS} FROM notice WHERE token_hash = ?`, [
      tokenHash,
    ]);
  }

  /** The notice of a channel's message that asked about a request. */
  findByMessage(channelId: string, messageId: string): Promise<NoticeRow | undefined> {
    return this.#tx.get<NoticeRow>(
      `SELECT ${COLUMNS} FROM notice WHERE channel_id = ? AND message_id = ? AND kind = 'ask'`,
      [channelId, messageId],
    );
  }

  /** The notices about a request, oldest first. */
  ofRequest(requestId: string): Promise<ChannelNotice[]> {
    return this.#tx.all<ChannelNotice>(
      `SELECT ${COLUMNS}, (SELECT kind FROM channel WHERE id = channel_id) AS channel_kind
       FROM notice WHERE request_id = ? ORDER BY id`,
      [requestId],
    );
  }

  async insert(
    row: Omit<NoticeRow, 'about' | 'message_id' | 'reason' | 'sent_at' | 'admitted'>,
    about?: string,
  ): Promise<void> {
    await this.#tx.put(
      'INSERT INTO notice (id, kind, channel_id, request_id, about, token, token_hash, status, attempts, due_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        row['id'] as string,
        row['kind'] as string,
        row['channel_id'] as string,
        row['request_id'] as string | null,
        about ?? null,
        row['token'] as Uint8Array | null,
        row['token_hash'] as string | null,
        row['status'] as string,
        row['attempts'] as number,
        row['due_at'] as number | null,
        row['created_at'] as string,
      ],
    );
  }

  /** How many of a channel's newest messages since a time (milliseconds) told of access. Looks at the newest few only. */
  async countAccess(channelId: string, since: number): Promise<number> {
    const row = await this.#tx.get(
      `SELECT count(*) AS n FROM (SELECT kind, channel_id, created_at FROM notice ORDER BY id DESC LIMIT 200)
       WHERE kind = 'access' AND channel_id = ? AND created_at >= ?`,
      [channelId, new Date(since).toISOString()],
    );
    return Number(row?.['n'] ?? 0);
  }

  due(now: number, limit: number): Promise<NoticeRow[]> {
    return this.#tx.all<NoticeRow>(
      `SELECT ${COLUMNS} FROM notice WHERE status = 'queued' AND due_at <= ? ORDER BY due_at LIMIT ?`,
      [now, limit],
    );
  }

  /** Gives all of them a new due time. */
  async deferAll(ids: readonly string[], dueAt: number): Promise<void> {
    await this.#tx.put(
      'UPDATE notice SET due_at = ? WHERE id IN (SELECT value FROM json_each(?))',
      [dueAt, JSON.stringify(ids)],
    );
  }

  /** The first due time after `now`. The senders already have the notices that are due by then. */
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

  /** The notices of a key that wait for a digest to a channel, oldest first. */
  held(channelId: string, keyId: string): Promise<NoticeRow[]> {
    const columns = COLUMNS.split(', ').map((name) => `notice.${name}`);
    return this.#tx.all<NoticeRow>(
      `SELECT ${columns.join(', ')} FROM notice JOIN request ON request.id = notice.request_id
       WHERE notice.status = 'held' AND channel_id = ? AND key_id = ? ORDER BY notice.id`,
      [channelId, keyId],
    );
  }

  /** The unsent digest of a key's notices to a channel. */
  findDigest(channelId: string, keyId: string): Promise<NoticeRow | undefined> {
    return this.#tx.get<NoticeRow>(
      `SELECT ${COLUMNS} FROM notice WHERE status = 'queued' AND kind = 'digest' AND channel_id = ? AND about = ?`,
      [channelId, keyId],
    );
  }

  async admit(id: string): Promise<void> {
    await this.#tx.put('UPDATE notice SET admitted = 1 WHERE id = ?', [id]);
  }

  async hold(id: string): Promise<void> {
    await this.#tx.put("UPDATE notice SET status = 'held', due_at = NULL WHERE id = ?", [id]);
  }

  /** Ends held notices that a digest told, or that it couldn't tell. */
  async endHeld(
    ids: readonly string[],
    end: {
      readonly status: 'digest' | 'failed';
      readonly messageId: string | null;
      readonly reason: string | null;
      readonly nowIso: string;
    },
  ): Promise<void> {
    const { status, messageId, reason, nowIso } = end;
    await this.#tx.put(
      `UPDATE notice SET status = ?, message_id = ?, reason = ?, sent_at = CASE ? WHEN 'digest' THEN ? END
       WHERE status = 'held' AND id IN (SELECT value FROM json_each(?))`,
      [status, messageId, reason, status, nowIso, JSON.stringify(ids)],
    );
  }

  /** Cancels a link to verify an address or to join that wasn't sent yet. */
  async endLinks(to: string): Promise<void> {
    await this.#tx.put(
      "UPDATE notice SET token = NULL, status = 'void', due_at = NULL WHERE request_id IS NULL AND channel_id = ? AND kind IN ('verify', 'invite') AND status = 'queued'",
      [to],
    );
  }

  /** Ends a channel's links and buttons, and cancels its notices that weren't sent. */
  async endOfChannel(channelId: string): Promise<void> {
    await this.#tx.put(
      "UPDATE notice SET token = NULL, token_hash = NULL, due_at = NULL, status = CASE WHEN status IN ('queued', 'held') THEN 'void' ELSE status END WHERE channel_id = ?",
      [channelId],
    );
  }
}
