import type { BudgetState } from '../../../rules/requests/notice-budget.ts';
import type { Row, Tx } from '../../engine/driver.ts';

interface BudgetRow extends Row {
  channel_id: string;
  key_id: string;
  full_at: number;
  digest_at: number | null;
  muted_until: number | null;
}

/** The messages of a key through a channel. */
export interface BudgetOf {
  readonly channelId: string;
  readonly keyId: string;
}

/** A key that a person has muted. */
export interface Mute extends BudgetOf {
  readonly until: number;
}

/** How many messages each key may send through each channel, and which keys people have muted. */
export class NoticeBudgetRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async find({ channelId, keyId }: BudgetOf): Promise<BudgetState> {
    const row = await this.#tx.get<BudgetRow>(
      'SELECT * FROM notice_budget WHERE channel_id = ? AND key_id = ?',
      [channelId, keyId],
    );
    return {
      fullAt: row?.full_at ?? 0,
      digestAt: row?.digest_at ?? null,
      mutedUntil: row?.muted_until ?? null,
    };
  }

  async set(
    { channelId, keyId }: BudgetOf,
    { fullAt, digestAt, mutedUntil }: BudgetState,
  ): Promise<void> {
    await this.#tx.put(
      `INSERT INTO notice_budget (channel_id, key_id, full_at, digest_at, muted_until) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (channel_id, key_id) DO UPDATE SET full_at = excluded.full_at, digest_at = excluded.digest_at,
         muted_until = excluded.muted_until`,
      [channelId, keyId, fullAt, digestAt, mutedUntil],
    );
  }

  /** The keys that a channel's person has muted, the first to end first. */
  async mutesOf(channelId: string, now: number): Promise<Mute[]> {
    const rows = await this.#tx.all<BudgetRow>(
      'SELECT * FROM notice_budget WHERE channel_id = ? AND muted_until > ? ORDER BY muted_until, key_id',
      [channelId, now],
    );
    return rows.map(({ key_id: keyId, muted_until: until }) => ({
      channelId,
      keyId,
      until: until ?? now,
    }));
  }
}
