import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { link, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '../../shared/host/make-folder.ts';
import { lengthOf, piecesOf, wholeOf, type Bytes } from '../../shared/lib/bytes.ts';

const openFile = promisify(fs.open);
const writePieces = promisify(fs.writev);
const sync = promisify(fs.fsync);

/** The received bytes were more or fewer than announced. */
export class BlobSizeError extends Error {
  constructor(expectedBytes: number) {
    super(`These are not the ${expectedBytes} bytes that were announced.`);
    this.name = 'BlobSizeError';
  }
}

/**
 * Writes a file under a temporary name, moves it into place, and syncs file and folder together, which saves one of
 * two waits for the disk. A power cut before the end may leave a partial file in place, but only before any caller
 * was told of it: see `isInPlace`.
 */
export async function writeInPlace(temporary: string, path: string, bytes: Bytes): Promise<void> {
  const file = await openFile(temporary, 'wx', 0o600);
  try {
    await writeAll(file, bytes);
    makeFolder(dirname(path));
    await rename(temporary, path);
    await Promise.all([sync(file), syncFile(dirname(path))]).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
  } finally {
    fs.closeSync(file);
  }
}

async function writeAll(file: number, bytes: Bytes): Promise<void> {
  let left = piecesOf(bytes);
  while (left.length > 0) {
    let { bytesWritten } = await writePieces(file, left as readonly NodeJS.ArrayBufferView[]);
    // A write rarely takes fewer bytes than asked.
    left = left.flatMap((piece) => {
      const done = Math.min(bytesWritten, piece.length);
      bytesWritten -= done;
      return done < piece.length ? [piece.subarray(done)] : [];
    });
  }
}

/**
 * Whether a file holds these bytes; if true, they are durable. The process that wrote the file may have died before
 * the sync. False if the sync fails: the system still shows bytes that it failed to write, and would call the next
 * sync a success.
 */
export async function isInPlace(path: string, bytes: Bytes): Promise<boolean> {
  if (fs.statSync(path, { throwIfNoEntry: false })?.size !== lengthOf(bytes)) return false;
  if (!(await readFile(path)).equals(wholeOf(bytes))) return false;
  const folder = dirname(path);
  const synced = [path, folder, dirname(folder)].map((one) => syncFile(one));
  return (await Promise.allSettled(synced)).every(({ status }) => status === 'fulfilled');
}

/**
 * Like `writeInPlace`, but syncs before the move, for paths where another process may write the same bytes at that
 * moment: a file that isn't durable must never replace that one, and no failure may delete it.
 */
export async function writeThenMove(temporary: string, path: string, bytes: Bytes): Promise<void> {
  const file = await openFile(temporary, 'wx', 0o600);
  try {
    await writeAll(file, bytes);
    await sync(file);
  } finally {
    fs.closeSync(file);
  }
  await moveInPlace(temporary, path);
}

/** Moves a file back to its name, unless another file has that name by now. */
export async function putBack(from: string, path: string): Promise<void> {
  await link(from, path).catch((error: unknown) => {
    if (!isFault(error, 'EEXIST')) throw error;
  });
  await syncFile(dirname(path));
  await rm(from, { force: true });
}

/** Moves a durable file into place and syncs the folder. */
export async function moveInPlace(temporary: string, path: string): Promise<void> {
  makeFolder(dirname(path));
  await rename(temporary, path);
  await syncFile(dirname(path));
}

/** Waits until a file, or a folder with its names, survives a power cut. */
export async function syncFile(path: string): Promise<void> {
  const file = fs.openSync(path, 'r');
  try {
    await sync(file);
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Writes a new file from a stream of chunks; each chunk is written before the next is read. The content is durable,
 * but not yet its name in the folder. Returns the SHA-256 in hex. Throws a `BlobSizeError`, and leaves the file
 * behind, at the first byte too many or at a stream that is too short.
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

/** Returns the names in a folder; empty if there is no folder. */
export async function listing(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

/** Whether an error has one of these system codes. */
export function isFault(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
