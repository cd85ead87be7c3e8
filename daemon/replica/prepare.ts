import { openSync, readSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Connection, isDiskFailure, readOnlyAddress } from '../../shared/store/connection.ts';
import { takeLock, type Lock } from '../../shared/store/lock.ts';
import { NEWEST_FRAME_AT, PAGE_BYTES } from '../../shared/store/wal-layout.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { readCopyLog, readFully, type CopyLog } from './copy-log.ts';
import type { Prepared } from './messages.ts';
import type { PageSums } from './page-sums.ts';
import type { ReplicaFolder, SyncedTo } from './replica-folder.ts';

const PORTION_PAGES = 256;

/** All are kept until the process ends: closing one would let go of locks that SQLite holds in this process. */
const kept: (Lock | Connection | FileHandle)[] = [];

/**
 * Looks whether every page of a copy is what the gateway sent, whatever may have ended the process before this one or
 * happened to the files since, and mends the client's notes where they lag behind. Only once in a process.
 */
export async function prepareCopy(folder: ReplicaFolder): Promise<Prepared> {
  const lock = takeLock(folder.lockPath);
  if (!lock) return { state: 'locked' };
  kept.push(lock);
  try {
    const reason = await findDamage(folder);
    return reason === null ? { state: 'ready' } : { state: 'damaged', reason };
  } catch (error) {
    // Anything else, such as too many open files, says nothing about the copy.
    if (!isDiskFailure(error) && errorCode(error) !== 'EIO') throw error;
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
  const found = placeOf(notes, known, log.frames);
  if (log.frames < committed || !found) return "The replica's log lost frames.";
  const page = await findChangedPage(folder.databasePath, known.sums, log);
  if (page !== null) return `Page ${page} of the file isn't what the gateway sent.`;
  const isNoted = found.generation === notes.generation && found.frames === notes.frames;
  if (!isNoted) folder.writeSyncedTo(found);
  return null;
}

/**
 * Where a copy with so many frames in its log is; null where it has lost some. The client writes its notes last, after a
 * commit and after it has folded a log in, so a crash may leave them behind.
 */
function placeOf(
  { generation, frames }: SyncedTo,
  known: PageSums,
  found: number,
): SyncedTo | null {
  if (found >= frames) return { generation, frames: found };
  const isFolded = found === 0 && known.generation > generation;
  return isFolded ? { generation: known.generation, frames: 0 } : null;
}

/** Answers the number of committed frames, as the client will find it. */
function openLog({ databasePath, logPath }: ReplicaFolder): number {
  const connection = new Connection(readOnlyAddress(databasePath));
  kept.push(connection);
  connection.exec('PRAGMA trusted_schema=OFF');
  // After a statement the index of the log is right.
  connection.get('PRAGMA user_version');
  if (!statSync(logPath, { throwIfNoEntry: false })?.size) return 0;
  const number = new Uint32Array(1);
  const read = readSync(openSync(`${databasePath}-shm`, 'r'), number, 0, 4, NEWEST_FRAME_AT);
  return read === 4 ? (number[0] ?? 0) : 0;
}

/**
 * The number of the first page that is not what it should be; null when all are. What the log has is read from there, and
 * may stand in the file in either state after a crash.
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
    // Beyond the end of a file there is nothing, as in its holes.
    portion.fill(0, read);
    for (let at = 0; at < Math.min(PORTION_PAGES, count - first); at += 1) {
      const page = portion.subarray(at * PAGE_BYTES, (at + 1) * PAGE_BYTES);
      const number = first + at + 1;
      if (crc32(page) !== sums[number - 1] && !log.sums.has(number)) return number;
    }
  }
  return null;
}
