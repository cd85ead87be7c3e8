import { contentSum, isSound, RowDamage } from '../../sums/content-sum.ts';
import type { Row, Tx } from '../../engine/driver.ts';
import type { SumColumn } from '../disk/kv.ts';

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

/** What a vote's sum covers. */
export function voteFields({ request_id, channel_id, at, comment, counts }: VoteRow) {
  return [request_id, channel_id, at, comment, counts];
}

/** Who approved the requests that need several people. */
export class VoteRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Oldest first. Throws a `RowDamage` if one isn't as it was written: they count together. */
  async ofRequest(requestId: string): Promise<VoteRow[]> {
    const rows = await this.#tx.all<VoteRow & SumColumn>(
      'SELECT request_id, channel_id, at, comment, counts, sum FROM vote WHERE request_id = ? ORDER BY at, channel_id',
      [requestId],
    );
    const isWhole = rows.every((row) => isSound(row.sum, voteFields(row)));
    if (!isWhole) throw new RowDamage(`approvals of ${requestId}`);
    return rows;
  }

  /** Each channel counts once: returns false if it had approved before. */
  async insert(vote: VoteRow): Promise<boolean> {
    const fields = voteFields(vote);
    const changed = await this.#tx.run(
      'INSERT INTO vote (request_id, channel_id, at, comment, counts, sum) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      [...fields, contentSum(fields)],
    );
    return changed > 0;
  }

  async setCounts(vote: VoteRow, counts: number): Promise<void> {
    await this.#tx.put(
      'UPDATE vote SET counts = ?, sum = ? WHERE request_id = ? AND channel_id = ?',
      [counts, contentSum(voteFields({ ...vote, counts })), vote.request_id, vote.channel_id],
    );
  }

  async delete(requestId: string, channelId: string): Promise<boolean> {
    const changed = await this.#tx.run('DELETE FROM vote WHERE request_id = ? AND channel_id = ?', [
      requestId,
      channelId,
    ]);
    return changed > 0;
  }
}
