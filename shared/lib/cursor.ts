import { invalid } from './errors.ts';

/** An opaque cursor for a text or number key. */
export function encodeCursor(key: string | number): string {
  return Buffer.from(String(key), 'utf8').toString('base64url');
}

/** A cursor's seq, or `start` without a cursor. Throws VALIDATION_FAILED if it isn't one of ours. */
export function decodeSeqCursor(cursor: string | undefined, start: number): number {
  if (cursor === undefined) return start;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!/^\d{1,15}$/.test(text) || encodeCursor(text) !== cursor) throw unknownCursor();
  return Number(text);
}

/** A cursor's id, or '' without a cursor. Throws VALIDATION_FAILED if it isn't one of ours. */
export function decodeIdCursor(cursor: string | undefined, shape: RegExp): string {
  if (cursor === undefined) return '';
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!shape.test(text) || encodeCursor(text) !== cursor) throw unknownCursor();
  return text;
}

function unknownCursor() {
  return invalid({ path: 'cursor', message: 'Not a cursor of this list.' });
}

/** A cursor's key, or '' without a cursor. Throws VALIDATION_FAILED if `problem` objects. */
export function decodeTextCursor(
  cursor: string | undefined,
  problem: (text: string) => string | null,
): string {
  if (cursor === undefined) return '';
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (problem(text) !== null || encodeCursor(text) !== cursor) throw unknownCursor();
  return text;
}
