import { closeSync, fsyncSync, openSync, readSync, statSync } from 'node:fs';
import type { Connection } from '../engine/connection.ts';
import { openIndex, releaseIndex } from './log-index.ts';
import {
  FRAME_BYTES,
  LOG_HEADER_BYTES,
  LOG_MAGIC,
  LOG_SALTS_AT,
  NEWEST_FRAME_AT,
  SALTS_BYTES,
} from './wal-layout.ts';

/**
 * Offsets from the number of the newest frame: the salts as in the log, and how many frames are checkpointed
 * (`nBackfill`).
 */
const INDEX_SALTS_AT = 16;
const INDEX_CHECKPOINTED_AT = 80;
const INDEX_BYTES = 84;

/** The shared index's facts about the log. */
export interface LogHead {
  /** Frames committed since the log last restarted. */
  readonly frames: number;
  /** The salts in the log's header, as hex; without frames, usually those of the next header. */
  readonly salts: string;
  /** How many of the frames the database file already has. */
  readonly checkpointedFrames: number;
}

/**
 * The write-ahead log of the writer's connection. Checkpointing it and rewriting it in place from the start saves the
 * file system from growing the file, so a sync takes a fraction of the time. The file is therefore longer than the part
 * in use; the log's index says how much is in use.
 */
export class WriteAheadLog {
  readonly path: string;
  readonly #connection: Connection;
  /** Stays open as long as the connection: closing a file ends the locks that SQLite holds on it in this process. */
  readonly #index: number;
  readonly #indexPath: string;
  readonly #bytes = Buffer.alloc(INDEX_BYTES);
  readonly #numbers = new Uint32Array(this.#bytes.buffer, this.#bytes.byteOffset, INDEX_BYTES / 4);

  readonly #beforeCheckpoint: (head: LogHead) => void;

  /**
   * The connection must have created the log, so run some statement first. If `beforeCheckpoint` throws, there's no
   * checkpoint.
   */
  constructor(
    databasePath: string,
    connection: Connection,
    beforeCheckpoint: (head: LogHead) => void,
  ) {
    this.#beforeCheckpoint = beforeCheckpoint;
    this.path = logPath(databasePath);
    this.#connection = connection;
    this.#indexPath = `${databasePath}-shm`;
    this.#index = openIndex(this.#indexPath);
  }

  /** Bytes in use since the log last restarted; all of them may be checkpointed already. */
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
      checkpointedFrames: this.#numbers[INDEX_CHECKPOINTED_AT / 4] ?? 0,
    };
  }

  /** The length of the file; 0 if it doesn't exist. */
  fileBytes(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Checkpoints the log; the next write restarts it unless another process keeps reading from it. */
  async checkpoint(): Promise<void> {
    this.#beforeCheckpoint(this.head());
    return this.#connection.execOffLoop('PRAGMA wal_checkpoint(RESTART)');
  }

  /**
   * Checkpoints the log and truncates it, so that nothing of it remains, not even pages that were overwritten since.
   */
  async truncate(): Promise<void> {
    this.#beforeCheckpoint(this.head());
    return this.#connection.execOffLoop('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /**
   * Call it after `truncate`: true if the file has length 0. It also syncs, so that a power cut can't bring the log back.
   */
  isTruncated(): boolean {
    if (this.fileBytes() > 0) return false;
    const file = openSync(this.path, 'r');
    fsyncSync(file);
    closeSync(file);
    return true;
  }

  /** Call it when this process has closed all connections to the database. */
  close(): void {
    releaseIndex(this.#indexPath, this.#index);
  }
}

/** The path of a database file's log. Nobody holds locks on the log, so you can open and close it freely. */
export function logPath(databasePath: string): string {
  return `${databasePath}-wal`;
}

/** The size of a log up to and including this frame. */
export function logBytes(frames: number): number {
  return LOG_HEADER_BYTES + frames * FRAME_BYTES;
}

/** The salts of a log that nobody has open, as hex; null without a valid header. */
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
