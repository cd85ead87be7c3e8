import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';

/** Flips one bit of a file where it is, as a disk does that forgets; returns the offset. `at`: a share of its length. */
export function flipBit(path: string, at = 0.5): number {
  const file = openSync(path, 'r+');
  try {
    const offset = Math.min(Math.floor(fstatSync(file).size * at), fstatSync(file).size - 1);
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    byte[0] = (byte[0] ?? 0) ^ 0x10;
    writeSync(file, byte, 0, 1, offset);
    return offset;
  } finally {
    closeSync(file);
  }
}
