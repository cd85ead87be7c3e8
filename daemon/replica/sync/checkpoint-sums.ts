import { readCopyLog, type CopyLog } from './copy-log.ts';
import { EMPTY_SUM } from '../verify/page-sums.ts';
import type { ReplicaFolder, SyncedTo } from './replica-folder.ts';
import { SyncError } from './sync-failure.ts';

/**
 * Stores the checksums that the database file will have once the client checkpoints the log of this ended generation.
 * Call it before the client starts, so that the next start can check the file even after an interruption.
 */
export async function noteCheckpoint(folder: ReplicaFolder, ended: SyncedTo): Promise<void> {
  const known = folder.readSums();
  if (known && known.generation > ended.generation) return;
  if (known?.generation !== ended.generation) {
    throw new SyncError('damaged', "The replica's checksums are missing or damaged.");
  }
  const log = await readCopyLog(folder.logPath, ended.frames);
  if (log.frames < ended.frames) {
    throw new SyncError('damaged', "The replica's log lost frames.");
  }
  folder.writeSums({ generation: ended.generation + 1, sums: sumsAfter(known.sums, log) });
}

function sumsAfter(before: Uint32Array, log: CopyLog): Uint32Array {
  if (log.frames === 0) return before;
  const sums = new Uint32Array(log.pages).fill(EMPTY_SUM);
  sums.set(before.subarray(0, log.pages));
  for (const [page, sum] of log.sums) {
    if (page <= log.pages) sums[page - 1] = sum;
  }
  return sums;
}
