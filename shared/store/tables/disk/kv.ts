import { contentSum, isSound, RowDamage } from '../../sums/content-sum.ts';
import type { Row, Tx } from '../../engine/driver.ts';
import { inRange, levelQuery, type LevelRange, type ListRange } from '../text-range.ts';

/** A key without its value. */
export interface KvHead extends Row {
  key: string;
  size_bytes: number;
  version: number;
  /** Unix time in milliseconds; null if the key never expires. */
  expires_at: number | null;
  updated_at: string;
}

export interface KvRow extends KvHead {
  note: string | null;
  /** JSON text. */
  value: Uint8Array;
}

/** A row with its sum. */
export interface SumColumn {
  /** Null in rows of earlier releases. */
  sum: number | null;
}

/** What the sum of a value covers besides the value; the same for a version of a task's state. */
export function valueFields({ key, version, note }: Pick<KvRow, 'key' | 'version' | 'note'>) {
  return [key, version, note];
}

/** Who saved a task state. */
export interface Saver {
  readonly keyId: string;
  readonly agent: string | null;
}

const HEAD = 'key, size_bytes, version, expires_at, updated_at';
const KEYS = { table: 'kv', column: 'key', columns: HEAD } as const;
/** A key exists until the millisecond when it expires. */
const LIVE = '(expires_at IS NULL OR expires_at > ?)';

/** Keys and their values. Reads take the time, so that they don't find expired keys, even before a sweep. */
export class KvRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Throws a `RowDamage` for a value that isn't as it was written. */
  async find(key: string, now: number): Promise<KvRow | undefined> {
    const row = await this.#tx.get<KvRow & SumColumn>(
      `SELECT ${HEAD}, note, value, sum FROM kv WHERE key = ? AND ${LIVE}`,
      [key, now],
    );
    if (!row) return undefined;
    if (!isSound(row.sum, valueFields(row), row.value)) throw new RowDamage(`key ${key}`);
    return row;
  }

  /** The stored row without its value, even if it has expired. */
  stored(key: string): Promise<KvHead | undefined> {
    return this.#tx.get<KvHead>(`SELECT ${HEAD} FROM kv WHERE key = ?`, [key]);
  }

  /** The live keys among these, by key. */
  async headsOf(keys: readonly string[], now: number): Promise<Map<string, KvHead>> {
    const marks = keys.map(() => '?').join(', ');
    const rows = await this.#tx.all<KvHead>(
      `SELECT ${HEAD} FROM kv WHERE key IN (${marks}) AND ${LIVE}`,
      [...keys, now],
    );
    return new Map(rows.map((row) => [row.key, row]));
  }

  /** In the byte order of keys. */
  page(range: ListRange, now: number): Promise<KvHead[]> {
    const { sql, params } = inRange('key', range);
    return this.#tx.all<KvHead>(
      `SELECT ${HEAD} FROM kv WHERE ${sql} AND ${LIVE} ORDER BY key LIMIT ?`,
      [...params, now, range.limit],
    );
  }

  /** The keys on a level, and the first key of each folder there. */
  level(range: LevelRange, now: number): Promise<KvHead[]> {
    const live = ' AND (expires_at IS NULL OR expires_at > ?6)';
    const { sql, params } = levelQuery({ ...KEYS, live }, range, [now]);
    return this.#tx.all<KvHead>(sql, params);
  }

  async put(row: KvRow, saver: Saver | null = null): Promise<void> {
    await this.#tx.put(
      `INSERT INTO kv (key, size_bytes, version, expires_at, updated_at, note, value, key_id, agent, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET size_bytes = excluded.size_bytes, version = excluded.version,
         expires_at = excluded.expires_at, updated_at = excluded.updated_at, note = excluded.note, value = excluded.value,
         key_id = excluded.key_id, agent = excluded.agent, sum = excluded.sum`,
      [
        row.key,
        row.size_bytes,
        row.version,
        row.expires_at,
        row.updated_at,
        row.note,
        row.value,
        saver?.keyId ?? null,
        saver?.agent ?? null,
        contentSum(valueFields(row), row.value),
      ],
    );
  }

  async setExpiry(key: string, expiresAt: number | null): Promise<void> {
    await this.#tx.put('UPDATE kv SET expires_at = ? WHERE key = ?', [expiresAt, key]);
  }

  async delete(key: string): Promise<void> {
    await this.#tx.put('DELETE FROM kv WHERE key = ?', [key]);
  }

  /** Deletes up to `limit` expired keys, except `except`; returns how many keys and bytes it deleted. */
  async deleteExpired(
    now: number,
    limit: number,
    except = '',
  ): Promise<{ keys: number; bytes: number }> {
    const rows = await this.#tx.all<Row & { id: number; size_bytes: number }>(
      'SELECT id, size_bytes FROM kv WHERE expires_at <= ? AND key <> ? ORDER BY expires_at LIMIT ?',
      [now, except, limit],
    );
    for (const { id } of rows) await this.#tx.put('DELETE FROM kv WHERE id = ?', [id]);
    return { keys: rows.length, bytes: rows.reduce((sum, row) => sum + row.size_bytes, 0) };
  }

  async nextExpiry(): Promise<number | null> {
    const row = await this.#tx.get(
      'SELECT min(expires_at) AS due FROM kv WHERE expires_at IS NOT NULL',
    );
    return (row?.['due'] as number | null | undefined) ?? null;
  }
}
