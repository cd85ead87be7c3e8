import type { ByteRange } from '../../../shared/kernel/context.ts';

/** Which part of `sizeBytes` a Range header asks for: a part, all of it, or a part that is not there. */
export type AskedRange = ByteRange | 'whole' | 'unsatisfiable';

const SINGLE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/** Several ranges, other units and what is not understood are answered with the whole, as RFC 9110 allows. */
export function askedRange(header: string | undefined, sizeBytes: number): AskedRange {
  const [, first = '', last = ''] = SINGLE.exec(header ?? '') ?? [];
  if (first === '') return last === '' ? 'whole' : suffix(Number(last), sizeBytes);
  const start = Number(first);
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return 'whole';
  return start < sizeBytes ? { start, end: Math.min(end, sizeBytes - 1) } : 'unsatisfiable';
}

/** The last so many bytes. */
function suffix(length: number, sizeBytes: number): AskedRange {
  if (length === 0) return 'unsatisfiable';
  // There is no way to write the range of nothing.
  if (sizeBytes === 0) return 'whole';
  return { start: Math.max(0, sizeBytes - length), end: sizeBytes - 1 };
}
