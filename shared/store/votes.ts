import type { Row, Tx } from './driver.ts';

/** A person's approval of a request that needs several. */
export interface VoteRow extends Row {
  request_id: string;
  channel_id: string;
  /** Unix time in milliseconds. */
  at: number;
  comment: string | null;
  /** 1 if it adds a person, 0 if somebody gave it who may have approved through another channel. */
  counts: number;
}

/** Who approved the requests that need several people. */
export class VoteRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Oldest first. */
  ofRequest(requestId: string): Promise<VoteRow[]> {
    return this.#tx.all<VoteRow>(
      'SELECT request_id, channel_id, at, comment, counts FROM vote WHERE request_id = ? ORDER BY at, channel_id',
      [requestId],
    );
  }

  /** Each channel counts once: returns false if it had approved before. */
  async insert({ request_id, channel_id, at, comment, counts }: VoteRow): Promise<boolean> {
    const changed = await this.#tx.run(
      'INSERT INTO vote (request_id, channel_id, at, comment, counts) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      [request_id, channel_id, at, comment, counts],
    );
    return changed > 0;
  }

  async setCounts(requestId: string, channelId: string, counts: number): Promise<void> {
    await this.#tx.put('UPDATE vote SET counts = ? WHERE request_id = ? AND channel_id = ?', [
      counts,
      requestId,
      channelId,
    ]);
  }

  async delete(requestId: string, channelId: string): Promise<boolean> {
    const changed = await this.#tx.run('DELETE FROM vote WHERE request_id = ? AND channel_id = ?', [
      requestId,
      channelId,
    ]);
    return changed > 0;
  }
}
