/** Bytes from `start` to `end`, both inclusive, counted from 0. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The part of a file that a Range header asks for: a range, the whole file, or a range outside the file. */
export type AskedRange = ByteRange | 'whole' | 'unsatisfiable';

const SINGLE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/** Parses a Range header. Several ranges, other units and malformed headers give the whole file, as RFC 9110 allows. */
export function askedRange(header: string | undefined, sizeBytes: number): AskedRange {
  const [, first = '', last = ''] = SINGLE.exec(header ?? '') ?? [];
  if (first === '') return last === '' ? 'whole' : suffix(Number(last), sizeBytes);
  const start = Number(first);
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return 'whole';
  return start < sizeBytes ? { start, end: Math.min(end, sizeBytes - 1) } : 'unsatisfiable';
}

/** Returns the range of the last `length` bytes. */
function suffix(length: number, sizeBytes: number): AskedRange {
  if (length === 0) return 'unsatisfiable';
  // An empty file has no valid range.
  if (sizeBytes === 0) return 'whole';
  return { start: Math.max(0, sizeBytes - length), end: sizeBytes - 1 };
}
