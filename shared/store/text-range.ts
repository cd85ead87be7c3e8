import type { SqlValue } from './driver.ts';

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
