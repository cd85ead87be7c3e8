import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Connection } from './connection.ts';

/** A frame of the log: its header and one page. */
const FRAME_BYTES = 24 + 4096;
/** Where the shared index of the log keeps the number of the newest frame (`mxFrame`), in the machine's byte order. */
const NEWEST_FRAME_AT = 16;

/**
 * The write-ahead log of the writer's connection. Folding it in and writing it anew from its beginning, in place, spares
 * the file system the work of growing a file: a sync takes a fraction of the time. So the file is longer than what is
 * in use, and how much is in use is asked of the log's index.
 */
export class WriteAheadLog {
  readonly #path: string;
  readonly #connection: Connection;
  /** Open for as long as the connection: to close a file ends the locks that SQLite holds on it in this process. */
  readonly #index: number;
  readonly #number = new Uint32Array(1);

  /** The connection has made the log: some statement has run. */
  constructor(databasePath: string, connection: Connection) {
    this.#path = `${databasePath}-wal`;
    this.#connection = connection;
    this.#index = openSync(`${databasePath}-shm`, 'r');
  }

  /** Bytes in use since the log was last begun anew; all of them may be folded in already. */
  usedBytes(): number {
    const read = readSync(this.#index, this.#number, 0, 4, NEWEST_FRAME_AT);
    return read === 4 ? (this.#number[0] ?? 0) * FRAME_BYTES : 0;
  }

  /** Length of the file; 0 when there is none. */
  fileBytes(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Folds the log into the database; the next write begins it anew, unless somebody reads from it all the while. */
  fold(): Promise<void> {
    return this.#connection.execOffLoop('PRAGMA wal_checkpoint(RESTART)');
  }

  /** Folds the log in and leaves nothing of it, not even what was written over in the database. */
  empty(): Promise<void> {
    return this.#connection.execOffLoop('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** To be called when all connections to the database in this process are closed. */
  close(): void {
    closeSync(this.#index);
  }
}
