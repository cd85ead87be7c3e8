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

/** Bytes that came were more or fewer than were announced. */
export class BlobSizeError extends Error {
  constructor(expectedBytes: number) {
    super(`These are not the ${expectedBytes} bytes that were announced.`);
    this.name = 'BlobSizeError';
  }
}

/**
 * Writes a file under a temporary name and moves it in place, then waits for the disk: for the file and its name together,
 * which is one wait where file by file it would be two. A power cut before the end may leave a file in place that is not
 * whole, never one that anybody was told of: see `isInPlace`.
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
    // Seldom less than all.
    left = left.flatMap((piece) => {
      const done = Math.min(bytesWritten, piece.length);
      bytesWritten -= done;
      return done < piece.length ? [piece.subarray(done)] : [];
    });
  }
}

/**
 * Whether a file holds these bytes; durable then. Whoever put it there may have died, or lost power, before it was synced.
 * False when it cannot be synced: the system still shows what it could not write, and would call the next sync a success.
 */
export async function isInPlace(path: string, bytes: Bytes): Promise<boolean> {
  if (fs.statSync(path, { throwIfNoEntry: false })?.size !== lengthOf(bytes)) return false;
  if (!(await readFile(path)).equals(wholeOf(bytes))) return false;
  const folder = dirname(path);
  const synced = [path, folder, dirname(folder)].map((one) => syncFile(one));
  return (await Promise.allSettled(synced)).every(({ status }) => status === 'fulfilled');
}

/**
 * The same where others may put the same bytes in place just then: a file that is not durable must not take the place of
 * theirs, nor may it be deleted.
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

/** Gives a file that was moved away its name back, unless there is another by now. */
export async function putBack(from: string, path: string): Promise<void> {
  await link(from, path).catch((error: unknown) => {
    if (!isFault(error, 'EEXIST')) throw error;
  });
  await syncFile(dirname(path));
  await rm(from, { force: true });
}

/** Moves a durable file to where it belongs. */
export async function moveInPlace(temporary: string, path: string): Promise<void> {
  makeFolder(dirname(path));
  await rename(temporary, path);
  await syncFile(dirname(path));
}

/** Waits until a file, or a folder with the names in it, would survive a power cut. */
export async function syncFile(path: string): Promise<void> {
  const file = fs.openSync(path, 'r');
  try {
    await sync(file);
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Writes a new file of bytes that come in chunks, durable but for its name in the folder: each is written before the next
 * one is asked for. Returns their SHA-256 in hex.
 * Throws BlobSizeError, which leaves the file behind, at the first byte too many or when the last has come too early.
 */
export async function writeStreamSynced(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): Promise<string> {
  const sum = createHash('sha256');
  let came = 0;
  async function* pluralize(): AsyncGenerator<Uint8Array> {
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
    await writeFile(file, pluralize());
    await file.sync();
  } finally {
    await file.close();
  }
  return sum.digest('hex');
}

/** The names in a folder, none where there is no folder. */
export async function listing(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

/** The disk is full or has failed. Every attempt begins with a new file, so the caller may try again. */
export function isDiskTrouble(error: unknown): boolean {
  return isFault(error, 'ENOSPC', 'EDQUOT', 'EIO');
}

/** Whether the system has answered with one of these codes. */
export function isFault(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
