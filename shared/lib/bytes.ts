import { createHash } from 'node:crypto';

/** Bytes in one piece, or in pieces in order as they arrived, so that they needn't be copied together. */
export type Bytes = Uint8Array | readonly Uint8Array[];

/** True for bytes, which parsed JSON never is. */
export function isBytes(value: unknown): value is Bytes {
  if (!Array.isArray(value)) return value instanceof Uint8Array;
  return value.length > 0 && value.every((piece) => piece instanceof Uint8Array);
}

export function piecesOf(bytes: Bytes): readonly Uint8Array[] {
  return bytes instanceof Uint8Array ? [bytes] : bytes;
}

export function wholeOf(bytes: Bytes): Uint8Array {
  const pieces = piecesOf(bytes);
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
}

export function lengthOf(bytes: Bytes): number {
  return piecesOf(bytes).reduce((sum, piece) => sum + piece.length, 0);
}

/** The hash in hex. */
export function sha256Of(bytes: Bytes): string {
  const sum = createHash('sha256');
  for (const piece of piecesOf(bytes)) sum.update(piece);
  return sum.digest('hex');
}
