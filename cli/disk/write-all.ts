import type { FileHandle } from 'node:fs/promises';
import { onFile } from './faults.ts';

/** Writes the whole chunk, because one write call may write less. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, name: string): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const { bytesWritten } = await onFile(name, 'written', file.write(bytes, at));
    at += bytesWritten;
  }
}
