import { createHash } from 'node:crypto';
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';

/** Bytes that came were more or fewer than were announced. */
export class BlobSizeError extends Error {
  constructor(expectedBytes: number) {
    super(`These are not the ${expectedBytes} bytes that were announced.`);
    this.name = 'BlobSizeError';
  }
}

/** Makes a folder with those above it. The first one made, undefined when all were there. */
export function makeFolder(folder: string): Promise<string | undefined> {
  return mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Writes a new file, durable but for its name in the folder. */
export async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * The same for bytes that come in chunks: each is written before the next one is asked for. Returns their SHA-256 in hex.
 * Throws BlobSizeError, which leaves the file behind, at the first byte too many or when the last has come too early.
 */
export async function writeStreamSynced(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): Promise<string> {
  const sum = createHash('sha256');
  let came = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      came += chunk.length;
      if (came > sizeBytes) throw new BlobSizeError(sizeBytes);
      sum.update(chunk);
      yield chunk;
    }
    if (came < sizeBytes) throw new BlobSizeError(sizeBytes);
  }
  const file = await open(path, 'wx', 0o600);
  try {
    await writeFile(file, counted());
    await file.sync();
  } finally {
    await file.close();
  }
  return sum.digest('hex');
}

/** Makes a rename or a new file in a folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The names in a folder, none where there is no folder. */
export async function listing(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

/** It passes: the caller may try again. */
export function isDiskFull(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT'].includes(String(error.code))
  );
}
