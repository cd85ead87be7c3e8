import { isSound, RowDamage } from '../../sums/content-sum.ts';
import { valueFields, type SumColumn } from './kv.ts';
import type { Row, Tx } from '../../engine/driver.ts';

/** A version of a task's state, without the state. */
export interface StateHead extends Row {
  version: number;
  saved_at: string;
  size_bytes: number;
  note: string | null;
  /** Who saved it; null on states saved by earlier releases. */
  key_id: string | null;
  agent: string | null;
}

export interface StateVersion extends StateHead {
  /** JSON text. */
  value: Uint8Array;
}

/** A version that can be deleted. */
export interface KeptVersion extends Row {
  version: number;
  size_bytes: number;
}

const HEAD = 'version, saved_at, size_bytes, note, key_id, agent';

/** Earlier versions of task states. `since` is a time in milliseconds: versions replaced before it count as gone. */
export class StateVersionRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Keeps what a key holds now, before it is replaced. */
  async keep(key: string, now: number): Promise<void> {
    await this.#tx.put(
      `INSERT INTO state_version (${HEAD}, key, replaced_at, value, sum)
       SELECT version, updated_at, size_bytes, note, key_id, agent, key, ?, value, sum FROM kv WHERE key = ?`,
      [now, key],
    );
  }

  /** Throws a `RowDamage` for a state that isn't as it was written. */
  async find(key: string, version: number, since: number): Promise<StateVersion | undefined> {
    const row = await this.#tx.get<StateVersion & SumColumn>(
      `SELECT ${HEAD}, value, sum FROM state_version WHERE version = ? AND key = ? AND replaced_at > ?`,
      [version, key, since],
    );
    if (!row || isSound(row.sum, valueFields({ ...row, key }), row.value)) return row;
    throw new RowDamage(`key ${key}, version ${version}`);
  }

  /** The newest first. */
  list(key: string, since: number): Promise<StateHead[]> {
    return this.#tx.all<StateHead>(
      `SELECT ${HEAD} FROM state_version WHERE key = ? AND replaced_at > ? ORDER BY version DESC`,
      [key, since],
    );
  }

  /** What the key itself holds: its newest version. */
  newest(key: string): Promise<StateHead | undefined> {
    return this.#tx.get<StateHead>(
      'SELECT version, updated_at AS saved_at, size_bytes, note, key_id, agent FROM kv WHERE key = ?',
      [key],
    );
  }

  /** The newest versions of these keys, by key. */
  async newestOf(keys: readonly string[]): Promise<Map<string, StateHead>> {
    const rows = await this.#tx.all<StateHead & { key: string }>(
      `SELECT key, version, updated_at AS saved_at, size_bytes, note, key_id, agent FROM kv
       WHERE key IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(keys)],
    );
    return new Map(rows.map((row) => [row.key, row]));
  }

  /** A key's versions after the newest `kept`. */
  surplus(key: string, kept: number): Promise<KeptVersion[]> {
    return this.#tx.all<KeptVersion>(
      'SELECT version, size_bytes FROM state_version WHERE key = ? ORDER BY version DESC LIMIT -1 OFFSET ?',
      [key, kept],
    );
  }

  /** The project's oldest versions. */
  oldest(limit: number): Promise<KeptVersion[]> {
    return this.#tx.all<KeptVersion>(
      'SELECT version, size_bytes FROM state_version ORDER BY version LIMIT ?',
      [limit],
    );
  }

  replacedBy(at: number, limit: number): Promise<KeptVersion[]> {
    return this.#tx.all<KeptVersion>(
      'SELECT version, size_bytes FROM state_version WHERE replaced_at <= ? ORDER BY replaced_at LIMIT ?',
      [at, limit],
    );
  }

  async delete(version: number): Promise<void> {
    await this.#tx.put('DELETE FROM state_version WHERE version = ?', [version]);
  }

  /** When the version that was replaced first was replaced. */
  async firstReplaced(): Promise<number | null> {
    const row = await this.#tx.get('SELECT min(replaced_at) AS at FROM state_version');
    return (row?.['at'] as number | null | undefined) ?? null;
  }
}
