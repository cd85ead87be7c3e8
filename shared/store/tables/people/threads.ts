import type { SqlValue, Tx } from '../../engine/driver.ts';
import { isWhole, REQUEST_COLUMNS, type RequestRow, type StoredRequest } from './requests.ts';

/** Requests of one key that belong together, such as those of an agent's session. */
export interface ThreadOf {
  readonly keyId: string;
  readonly thread: string;
}

const OF_THREAD = 'key_id = ? AND thread = ?';

/** Requests by their thread. A damaged row is left out. */
export class ThreadRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Those whose answers still hold for others, newest first. */
  lasting(of: ThreadOf, now: number): Promise<RequestRow[]> {
    return this.#each(of, 'AND lasts_until > ? ORDER BY id DESC', now);
  }

  /** The open ones, oldest first. */
  pending(of: ThreadOf, now: number): Promise<RequestRow[]> {
    return this.#each(of, "AND status = 'pending' AND expires_at > ? ORDER BY id", now);
  }

  /** How many there are, and to how many the answer was yes. */
  async counts({ keyId, thread }: ThreadOf): Promise<{ asked: number; allowed: number }> {
    const row = await this.#tx.get(
      `SELECT count(*) AS asked, count(*) FILTER (WHERE status IN ('approved', 'modified')) AS allowed
       FROM request WHERE ${OF_THREAD}`,
      [keyId, thread],
    );
    return { asked: Number(row?.['asked'] ?? 0), allowed: Number(row?.['allowed'] ?? 0) };
  }

  /** The channel's own id of the message that asked it first; null if none did. */
  async firstMessage(channelId: string, { keyId, thread }: ThreadOf): Promise<string | null> {
    const row = await this.#tx.get<{ message_id: string }>(
      `SELECT message_id FROM request CROSS JOIN notice ON notice.request_id = request.id
       WHERE ${OF_THREAD} AND channel_id = ? AND notice.kind = 'ask' AND notice.status = 'sent'
         AND message_id IS NOT NULL
       ORDER BY notice.id LIMIT 1`,
      [keyId, thread, channelId],
    );
    return row?.message_id ?? null;
  }

  async #each({ keyId, thread }: ThreadOf, sql: string, value: SqlValue): Promise<RequestRow[]> {
    const rows = await this.#tx.all<StoredRequest>(
      `SELECT ${REQUEST_COLUMNS} FROM request WHERE ${OF_THREAD} ${sql}`,
      [keyId, thread, value],
    );
    return rows.filter(isWhole);
  }
}
