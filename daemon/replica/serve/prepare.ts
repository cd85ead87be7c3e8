import { openSync, readSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import {
  Connection,
  isDamage,
  isDiskFailure,
  readOnlyAddress,
} from '../../../shared/store/engine/connection.ts';
import { takeLock, type Lock } from '../../../shared/store/engine/lock.ts';
import { NEWEST_FRAME_AT, PAGE_BYTES } from '../../../shared/store/log/wal-layout.ts';
import { errorCode } from '../../../shared/lib/guards.ts';
import { readCopyLog, readFully, type CopyLog } from '../sync/copy-log.ts';
import type { PrepareResult } from '../sync/messages.ts';
import type { PageSums } from '../verify/page-sums.ts';
import type { ReplicaFolder, SyncedTo } from '../sync/replica-folder.ts';

const PORTION_PAGES = 256;

/** We keep all of these open until the process ends: a close would release SQLite's locks in this process. */
const kept: (Lock | Connection | FileHandle)[] = [];

/**
 * Checks that every page of a replica is what the gateway sent, whatever ended the previous process or happened to the
 * files since, and updates the client's notes if they lag behind. Call it once per process.
 */
export async function prepareCopy(folder: ReplicaFolder): Promise<PrepareResult> {
  const lock = takeLock(folder.lockPath);
  if (!lock) return { state: 'locked' };
  kept.push(lock);
  try {
    const reason = await findDamage(folder);
    return reason === null ? { state: 'ready' } : { state: 'damaged', reason };
  } catch (error) {
    // Other errors, such as too many open files, say nothing about the replica.
    if (!isDamage(error) && !isDiskFailure(error) && errorCode(error) !== 'EIO') throw error;
    return { state: 'damaged', reason: error instanceof Error ? error.message : String(error) };
  }
}

async function findDamage(folder: ReplicaFolder): Promise<string | null> {
  const notes = folder.readSyncedTo();
  if (!notes) return "The replica's client notes are damaged.";
  const known = folder.readSums();
  if (!known || ![0, 1].includes(known.generation - notes.generation)) {
    return "The replica's checksums are missing or damaged.";
  }
  const committed = openLog(folder);
  const log = await readCopyLog(folder.logPath, committed);
  const found = positionOf(notes, known, log.frames);
  if (log.frames < committed || !found) return "The replica's log lost frames.";
  if (!isPosition(folder, found, log)) return "The replica's log isn't what the gateway sent.";
  const page = await findChangedPage(folder.databasePath, known.sums, log);
  if (page !== null) return `Page ${page} of the file isn't what the gateway sent.`;
  const isNoted = found.generation === notes.generation && found.frames === notes.frames;
  if (!isNoted) folder.writeSyncedTo(found);
  return null;
}

/**
 * The position of a replica with `found` frames in its log; null if it lost frames. The client writes its notes last,
 * after a commit and after it checkpoints a log, so a crash may leave them out of date.
 */
function positionOf(
  { generation, frames }: SyncedTo,
  known: PageSums,
  found: number,
): SyncedTo | null {
  if (found >= frames) return { generation, frames: found };
  const isFolded = found === 0 && known.generation > generation;
  return isFolded ? { generation: known.generation, frames: 0 } : null;
}

/** True if we know which of the gateway's frames come after the log, so that it ends exactly where we left it. */
function isPosition(
  folder: ReplicaFolder,
  { generation, frames }: SyncedTo,
  log: CopyLog,
): boolean {
  if (frames === 0) return true;
  const known = folder.readPositions();
  if (known?.generation !== generation) return false;
  return known.places.some(({ ours, sum }) => ours === frames && sum === log.sum);
}

/** Returns the number of committed frames that the client will see. */
function openLog({ databasePath, logPath }: ReplicaFolder): number {
  const connection = new Connection(readOnlyAddress(databasePath));
  kept.push(connection);
  connection.exec('PRAGMA trusted_schema=OFF');
  // A statement makes SQLite rebuild the index of the log.
  connection.get('PRAGMA user_version');
  if (!statSync(logPath, { throwIfNoEntry: false })?.size) return 0;
  const number = new Uint32Array(1);
  const read = readSync(openSync(`${databasePath}-shm`, 'r'), number, 0, 4, NEWEST_FRAME_AT);
  return read === 4 ? (number[0] ?? 0) : 0;
}

/**
 * The number of the first wrong page; null if all are right. Readers take pages in the log from there, so after a crash
 * the file may have either version of those.
 */
async function findChangedPage(
  path: string,
  sums: Uint32Array,
  log: CopyLog,
): Promise<number | null> {
  const file = await open(path, 'r');
  kept.push(file);
  const portion = Buffer.alloc(PORTION_PAGES * PAGE_BYTES);
  const count = log.frames > 0 ? Math.min(sums.length, log.pages) : sums.length;
  for (let first = 0; first < count; first += PORTION_PAGES) {
    const read = await readFully(file, portion, first * PAGE_BYTES);
    // Pages after the end of the file count as empty, like its holes.
    portion.fill(0, read);
    for (let at = 0; at < Math.min(PORTION_PAGES, count - first); at += 1) {
      const page = portion.subarray(at * PAGE_BYTES, (at + 1) * PAGE_BYTES);
      const number = first + at + 1;
      if (crc32(page) !== sums[number - 1] && !log.sums.has(number)) return number;
    }
  }
  return null;
}
