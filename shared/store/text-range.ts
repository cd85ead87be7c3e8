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
