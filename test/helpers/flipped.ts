import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs';

/** Flips one bit of a file where it is, as a disk does that forgets; returns the offset. `at`: a share of its length. */
export function flipBit(path: string, at = 0.5): number {
  const { size } = statSync(path);
  const offset = Math.min(Math.floor(size * at), size - 1);
  flipBitAt(path, offset);
  return offset;
}

/** The same at an offset. */
export function flipBitAt(path: string, offset: number): void {
  const file = openSync(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    byte[0] = (byte[0] ?? 0) ^ 0x10;
    writeSync(file, byte, 0, 1, offset);
  } finally {
    closeSync(file);
  }
}
