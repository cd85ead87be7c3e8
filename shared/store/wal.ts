import { closeSync, fsyncSync, openSync, readSync, statSync } from 'node:fs';
import type { Connection } from './connection.ts';
import { openIndex, releaseIndex } from './log-index.ts';
import {
  FRAME_BYTES,
  LOG_HEADER_BYTES,
  LOG_MAGIC,
  LOG_SALTS_AT,
  NEWEST_FRAME_AT,
  SALTS_BYTES,
} from './wal-layout.ts';

/** Counted from the number of the newest frame: the salts, as they stand in the log, and how many frames are folded in (`nBackfill`). */
const INDEX_SALTS_AT = 16;
const INDEX_FOLDED_AT = 80;
const INDEX_BYTES = 84;

/** What the shared index tells of the log. */
export interface LogHead {
  /** Committed since the log was last begun anew. */
  readonly frames: number;
  /** Of the log's header, as hex; while there are no frames, mostly those that the next header will have. */
  readonly salts: string;
  /** Of the frames, those that the database file has as well. */
  readonly foldedFrames: number;
}

/**
 * The write-ahead log of the writer's connection. Folding it in and writing it anew from its beginning, in place, spares
 * the file system the work of growing a file: a sync takes a fraction of the time. So the file is longer than what is
 * in use, and how much is in use is asked of the log's index.
 */
export class WriteAheadLog {
  readonly path: string;
  readonly #connection: Connection;
  /** Open for as long as the connection: to close a file ends the locks that SQLite holds on it in this process. */
  readonly #index: number;
  readonly #indexPath: string;
  readonly #bytes = Buffer.alloc(INDEX_BYTES);
  readonly #numbers = new Uint32Array(this.#bytes.buffer, this.#bytes.byteOffset, INDEX_BYTES / 4);

  /** The connection has made the log: some statement has run. */
  constructor(databasePath: string, connection: Connection) {
    this.path = logPath(databasePath);
    this.#connection = connection;
    this.#indexPath = `${databasePath}-shm`;
    this.#index = openIndex(this.#indexPath);
  }

  /** Bytes in use since the log was last begun anew; all of them may be folded in already. */
  usedBytes(): number {
    const read = readSync(this.#index, this.#bytes, 0, 4, NEWEST_FRAME_AT);
    return read === 4 ? (this.#numbers[0] ?? 0) * FRAME_BYTES : 0;
  }

  head(): LogHead {
    const read = readSync(this.#index, this.#bytes, 0, INDEX_BYTES, NEWEST_FRAME_AT);
    if (read !== INDEX_BYTES) throw new Error('The index of the log is too short.');
    return {
      frames: this.#numbers[0] ?? 0,
      salts: this.#bytes.toString('hex', INDEX_SALTS_AT, INDEX_SALTS_AT + SALTS_BYTES),
      foldedFrames: this.#numbers[INDEX_FOLDED_AT / 4] ?? 0,
    };
  }

  /** Length of the file; 0 when there is none. */
  fileBytes(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Folds the log into the database; the next write begins it anew, unless somebody reads from it all the while. */
  fold(): Promise<void> {
    return this.#connection.execOffLoop('PRAGMA wal_checkpoint(RESTART)');
  }

  /** Folds the log in and leaves nothing of it, not even what was written over in the database. */
  empty(): Promise<void> {
    return this.#connection.execOffLoop('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** After `empty`: the same. The file has length 0 when it went through; then a power cut does not bring it back. */
  isEmptied(): boolean {
    if (this.fileBytes() > 0) return false;
    const file = openSync(this.path, 'r');
    fsyncSync(file);
    closeSync(file);
    return true;
  }

  /** To be called when all connections to the database in this process are closed. */
  close(): void {
    releaseIndex(this.#indexPath, this.#index);
  }
}

/** The log beside a database file. No locks are held on it: it may be opened and closed at will. */
export function logPath(databasePath: string): string {
  return `${databasePath}-wal`;
}

/** Bytes of a log that end with this frame. */
export function logBytes(frames: number): number {
  return LOG_HEADER_BYTES + frames * FRAME_BYTES;
}

/** The salts of a log that nobody has open, as hex; null when there is no header of a log. */
export function saltsOf(path: string): string | null {
  if (!statSync(path, { throwIfNoEntry: false })) return null;
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    if (readSync(file, header, 0, LOG_HEADER_BYTES, 0) < LOG_HEADER_BYTES) return null;
  } finally {
    closeSync(file);
  }
  if ((header.readUInt32BE(0) & ~1) !== LOG_MAGIC) return null;
  return header.toString('hex', LOG_SALTS_AT, LOG_SALTS_AT + SALTS_BYTES);
}
