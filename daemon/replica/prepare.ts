import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { Connection, isDiskFailure, readOnlyAddress } from '../../shared/store/connection.ts';
import { takeLock, type Lock } from '../../shared/store/lock.ts';
import type { Prepared } from './messages.ts';
import type { ReplicaFolder } from './replica-folder.ts';

/** The whole of a larger file is not looked at: it would take too long. */
const CHECK_MAX_BYTES = 200 * 1024 * 1024;
const PAGE_BYTES = 4096;
/** In the header of a database: pages it has, big-endian. */
const PAGES_AT = 28;
/** In the shared index of a log: the number of its newest frame (`mxFrame`), in the machine's byte order. */
const NEWEST_FRAME_AT = 16;

/** Both are kept until the process ends: closing either would let go of locks that SQLite holds in this process. */
const kept: (Lock | Connection)[] = [];

/**
 * Looks whether a copy is what the client's notes say it is, after whatever may have ended the process before this one, and
 * mends the notes where they lag behind. Only once in a process.
 */
export function prepareCopy(folder: ReplicaFolder, check: boolean): Prepared {
  const lock = takeLock(folder.lockPath);
  if (!lock) return { state: 'locked' };
  try {
    const reason = cutShort(folder.databasePath);
    if (reason !== null) return { state: 'damaged', reason };
    const connection = new Connection(readOnlyAddress(folder.databasePath));
    kept.push(lock, connection);
    connection.exec('PRAGMA trusted_schema=OFF');
    const isSmall = statSync(folder.databasePath).size <= CHECK_MAX_BYTES;
    const found = connection.get(
      check && isSmall ? 'PRAGMA quick_check(1)' : 'PRAGMA user_version',
    );
    if (found?.['quick_check'] !== undefined && found['quick_check'] !== 'ok') {
      return { state: 'damaged', reason: String(found['quick_check']) };
    }
    return compareNotes(folder);
  } catch (error) {
    // Anything else, such as too many open files, says nothing about the copy.
    if (!isDiskFailure(error)) throw error;
    return { state: 'damaged', reason: error.message };
  }
}

/** The notes are written after the frames of a transaction, so a crash may leave more frames than they say. */
function compareNotes(folder: ReplicaFolder): Prepared {
  const notes = folder.readSyncedTo();
  if (!notes) return { state: 'damaged', reason: 'The notes of the client are damaged.' };
  const frames = framesInLog(folder.databasePath);
  if (frames < notes.frames) return { state: 'short', ...notes };
  if (frames > notes.frames) folder.writeSyncedTo({ generation: notes.generation, frames });
  return { state: 'ready' };
}

/** Committed frames. A statement has run, so the index is right; the file stays open. */
function framesInLog(databasePath: string): number {
  if (!statSync(`${databasePath}-wal`, { throwIfNoEntry: false })?.size) return 0;
  const number = new Uint32Array(1);
  const read = readSync(openSync(`${databasePath}-shm`, 'r'), number, 0, 4, NEWEST_FRAME_AT);
  return read === 4 ? (number[0] ?? 0) : 0;
}

/**
 * Why a file cannot be the whole database; null when it can. Costs nothing, where a full check would. What a log still
 * has to be folded in may well be longer than the file.
 */
function cutShort(path: string): string | null {
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return null;
  const header = Buffer.alloc(100);
  const file = openSync(path, 'r');
  try {
    if (readSync(file, header, 0, header.length, 0) < header.length)
      return 'The file is too short.';
  } finally {
    closeSync(file);
  }
  const wanted = header.readUInt32BE(PAGES_AT) * PAGE_BYTES;
  return statSync(path).size < wanted ? 'The file is shorter than its header says.' : null;
}
