import { open, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { PageSummer } from '../verify/page-sums.ts';
import type { ReplicaFolder } from './replica-folder.ts';
import { SourceError } from './source-error.ts';
import type { ReplicaSource } from './source.ts';
import { SyncError } from './sync-failure.ts';

/** Reports the progress of a download, in bytes. */
export type Progress = (done: number, total: number) => void;

/** A generation may end between our two requests. */
const ATTEMPTS = 5;
/** Free disk space to leave for the replica's log and for other programs. */
const SPARE_BYTES = 100 * 1024 * 1024;

/**
 * Downloads the gateway's database file into an empty folder, in chunks: the database client would hold all of it in
 * memory. Afterwards the folder has the complete file or none. Rejects with `SourceError`, or with `SyncError` if the
 * disk lacks space.
 */
export async function copyDatabase(
  source: ReplicaSource,
  folder: ReplicaFolder,
  epoch: string,
  onProgress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { generation, sizeBytes, body } = await begin(source, epoch, signal);
  try {
    await requireRoom(folder.path, sizeBytes);
    const summer = new PageSummer(sizeBytes);
    await writeWhole(folder.downloadPath, body, sizeBytes, (chunk, done) => {
      summer.add(chunk);
      onProgress(done, sizeBytes);
    });
    signal.throwIfAborted();
    folder.writeSums({ generation, sums: summer.sums });
  } catch (error) {
    body.destroy();
    await rm(folder.downloadPath, { force: true });
    throw error;
  }
  // Write the client's notes last: without them, the file doesn't count as a replica.
  await rename(folder.downloadPath, folder.databasePath);
  await syncPath(dirname(folder.databasePath));
  folder.writeSyncedTo({ generation, frames: 0 });
}

async function begin(
  source: ReplicaSource,
  epoch: string,
  signal: AbortSignal,
): ReturnType<ReplicaSource['download']> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await source.download(epoch, signal);
    } catch (error) {
      const hasMoved = error instanceof SourceError && error.fault === 'missing';
      if (!hasMoved) throw error;
      if (attempt === ATTEMPTS) throw new SourceError('unavailable', error.message);
    }
  }
}

/** Rejects with `SyncError` before it writes anything: a full disk hurts more than a missing replica. */
async function requireRoom(path: string, sizeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(path);
  const freeBytes = bavail * bsize;
  if (sizeBytes + SPARE_BYTES <= freeBytes) return;
  const [needed, free] = [megabytes(sizeBytes + SPARE_BYTES), megabytes(freeBytes)];
  throw new SyncError(
    'full',
    `Not enough disk space for the replica: it needs ${needed} MB, and ${path} has ${free} MB free. Free some space there.`,
  );
}

function megabytes(bytes: number): string {
  return Math.round(bytes / (1024 * 1024)).toLocaleString('en-US');
}

async function writeWhole(
  path: string,
  body: Readable,
  sizeBytes: number,
  onChunk: (chunk: Uint8Array, done: number) => void,
): Promise<void> {
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600);
  try {
    let done = 0;
    for await (const chunk of chunksOf(body)) {
      await file.writeFile(chunk);
      done += chunk.length;
      onChunk(chunk, done);
    }
    if (done !== sizeBytes)
      throw new SourceError('unreachable', 'The download of the replica broke off.');
    await file.sync();
  } finally {
    await file.close();
  }
}

async function* chunksOf(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch (error) {
    throw new SourceError('unreachable', 'The download of the replica broke off.', null, error);
  }
}

async function syncPath(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
