import type { SqlValue } from './driver.ts';

const LAST_CODE_POINT = 0x10_ff_ff;

/**
 * The first text behind all that begin with the prefix, in the order of code points, which is that of UTF-8 bytes and of
 * SQLite; null when there is none.
 */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // Surrogates are no code points of their own.
  const next = last === 0xd7_ff ? 0xe0_00 : last + 1;
  return String.fromCodePoint(...points, next);
}

/** Where a page of a list begins and ends. */
export interface ListRange {
  readonly prefix: string;
  /** The last key of the page before; '' for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** The condition that a column is in the range, by the bytes of its texts. */
export function inRange(
  column: 'key' | 'path',
  { prefix, after }: ListRange,
): { readonly sql: string; readonly params: readonly SqlValue[] } {
  // One lower bound: of two, SQLite seeks the first alone, and reads all pages before this one again.
  const sql = `${column} >= max(?, ?) AND ${column} <> ?`;
  const params = [prefix, after, after];
  const end = afterPrefix(prefix);
  if (end === null) return { sql, params };
  return { sql: `${sql} AND ${column} < ?`, params: [...params, end] };
}
