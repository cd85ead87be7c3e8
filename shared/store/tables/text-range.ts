import type { Query, SqlValue } from '../engine/driver.ts';

const LAST_CODE_POINT = 0x10_ff_ff;

/**
 * The first text after all that start with the prefix, in code point order, which is the order of UTF-8 bytes and of
 * SQLite; null if there is none.
 */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // Surrogates aren't code points of their own.
  const next = last === 0xd7_ff ? 0xe0_00 : last + 1;
  return String.fromCodePoint(...points, next);
}

/** The limits of a page of a list. */
export interface ListRange {
  readonly prefix: string;
  /** The last key of the previous page; '' for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** The SQL condition that selects the range of a column, in byte order. */
export function inRange(
  column: 'key' | 'path',
  { prefix, after }: ListRange,
): { readonly sql: string; readonly params: readonly SqlValue[] } {
  // Use a single lower bound: given two, SQLite seeks only the first and reads all earlier pages again.
  const sql = `${column} >= max(?, ?) AND ${column} <> ?`;
  const params = [prefix, after, after];
  const end = afterPrefix(prefix);
  if (end === null) return { sql, params };
  return { sql: `${sql} AND ${column} < ?`, params: [...params, end] };
}

/** One level of a tree of names that are separated by `/`. */
export interface LevelRange {
  /** The folder, with its final `/`; '' for the top. */
  readonly under: string;
  /** Only names that start with this. */
  readonly prefix: string;
  /** Only names from here on. */
  readonly from: string;
  readonly limit: number;
}

/** Names have no characters before the blank, so nothing lies between a name and this. */
export function afterName(name: string): string {
  return `${name} `;
}

/** `0` follows `/`, so this is the first name after all that are in the folder. */
export function afterFolder(folder: string): string {
  return `${folder.slice(0, -1)}0`;
}

/**
 * Selects the first name of each folder on a level, and the names on the level itself, in byte order. Each costs one search
 * of the index, however many names a folder has.
 */
export function levelQuery(
  { table, column, columns, live = '' }: LevelTable,
  { under, prefix, from, limit }: LevelRange,
  params: readonly SqlValue[] = [],
): Query {
  const end = afterPrefix(prefix);
  const first = (bound: string): string =>
    `SELECT ${column} FROM ${table} WHERE ${column} >= ${bound}${end === null ? '' : ` AND ${column} < ?4`}${live} ORDER BY ${column} LIMIT 1`;
  const slash = "instr(substr(name, length(?1) + 1), '/')";
  const next = `CASE WHEN ${slash} > 0 THEN substr(name, 1, length(?1) + ${slash} - 1) || '0' ELSE name || ' ' END`;
  const sql = `WITH RECURSIVE level(name) AS (
      SELECT (${first('max(?2, ?3)')})
      UNION ALL SELECT (${first(next)}) FROM level WHERE name IS NOT NULL LIMIT ?5)
    SELECT ${columns} FROM level CROSS JOIN ${table} ON ${column} = name`;
  return { sql, params: [under, prefix, from, end, limit, ...params] };
}

interface LevelTable {
  readonly table: 'kv' | 'file';
  readonly column: 'key' | 'path';
  readonly columns: string;
  /** A further condition; its parameters start at `?6`. */
  readonly live?: string;
}
