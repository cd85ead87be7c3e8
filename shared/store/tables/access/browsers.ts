import type { Row, Tx } from '../../engine/driver.ts';

/** A browser that shows a person's messages as notices. */
export interface BrowserRow extends Row {
  id: string;
  /** The channel of the person. */
  channel_id: string;
  /** Such as `Chrome on Android`. */
  name: string;
  /** Sealed: a `PushSubscription` as JSON. */
  subscription: Uint8Array;
  endpoint_hash: string;
  created_at: string;
  last_sent_at: string | null;
  gone_at: string | null;
  /** The channel or the key whose session added it; null in rows of earlier releases. */
  created_by: string | null;
}

const COLUMNS =
  'id, channel_id, name, subscription, endpoint_hash, created_at, last_sent_at, gone_at, created_by';

/** Browsers of the people who are asked. */
export class BrowserRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** The browsers of a person, oldest first. */
  of(channelId: string): Promise<BrowserRow[]> {
    return this.#tx.all<BrowserRow>(
      `SELECT ${COLUMNS} FROM browser WHERE channel_id = ? ORDER BY id`,
      [channelId],
    );
  }

  /** A browser has one place: adding it again, or for somebody else, replaces the earlier row. */
  async insert(row: BrowserRow): Promise<void> {
    await this.#tx.put(
      `INSERT OR REPLACE INTO browser (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        row.id,
        row.channel_id,
        row.name,
        row.subscription,
        row.endpoint_hash,
        row.created_at,
        row.last_sent_at,
        row.gone_at,
        row.created_by,
      ],
    );
  }

  /** Records how a push went. */
  async record(id: string, column: 'last_sent_at' | 'gone_at', nowIso: string): Promise<void> {
    await this.#tx.put(`UPDATE browser SET ${column} = ? WHERE id = ?`, [nowIso, id]);
  }

  /** False if the person has no such browser. */
  async remove(channelId: string, id: string): Promise<boolean> {
    const removed = await this.#tx.run('DELETE FROM browser WHERE channel_id = ? AND id = ?', [
      channelId,
      id,
    ]);
    return removed > 0;
  }

  /** Removes a browser, whoever's it is. */
  async removeById(id: string): Promise<void> {
    await this.#tx.put('DELETE FROM browser WHERE id = ?', [id]);
  }

  async removeAll(channelId: string): Promise<void> {
    await this.#tx.put('DELETE FROM browser WHERE channel_id = ?', [channelId]);
  }
}
