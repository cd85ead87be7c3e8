import type { Row, Tx } from './driver.ts';

/** A person's approval of a request that needs several. */
export interface VoteRow extends Row {
  request_id: string;
  channel_id: string;
  /** Unix time in milliseconds. */
  at: number;
  comment: string | null;
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
      'SELECT request_id, channel_id, at, comment FROM vote WHERE request_id = ? ORDER BY at, channel_id',
      [requestId],
    );
  }

  /** Each channel counts once: returns false if it had approved before. */
  async insert({ request_id, channel_id, at, comment }: VoteRow): Promise<boolean> {
    const changed = await this.#tx.run(
      'INSERT INTO vote (request_id, channel_id, at, comment) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      [request_id, channel_id, at, comment],
    );
    return changed > 0;
  }

  async delete(requestId: string, channelId: string): Promise<boolean> {
    const changed = await this.#tx.run('DELETE FROM vote WHERE request_id = ? AND channel_id = ?', [
      requestId,
      channelId,
    ]);
    return changed > 0;
  }
}
