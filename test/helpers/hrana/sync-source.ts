import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { FRAME_BYTES } from '../../../shared/store/log/wal-layout.ts';
import type { FrameRange } from '../../../gateway/replica/log-file.ts';
import { openIndex, releaseIndex } from '../../../shared/store/log/log-index.ts';
import { logBytes, logPath } from '../../../shared/store/log/wal.ts';

/** Where the index of the log keeps the number of the newest committed frame, in the machine's byte order. */
const NEWEST_FRAME_AT = 16;
const FRAMES_MAX = 256;

/**
 * What replicas of a database are made of, by libSQL's sync protocol. The log is never folded in, so it is the one
 * generation there ever is, and the file stays what that began with.
 */
export class SyncSource {
  readonly generation = 1;
  readonly #path: string;
  readonly #index: number;
  /** Open for as long as the database: to close a file ends the locks that SQLite holds on it in this process. */
  readonly #file: number;

  /** The database is open, and was never open without a source. */
  constructor(path: string) {
    this.#path = path;
    this.#index = openIndex(`${path}-shm`);
    this.#file = openSync(path, 'r');
  }

  /** The file as the generation found it. */
  base(): Buffer {
    const bytes = Buffer.alloc(fstatSync(this.#file).size);
    readSync(this.#file, bytes, 0, bytes.length, 0);
    return bytes;
  }

  /** The frames from the first wanted one; null if it doesn't exist yet. */
  frames({ from, to }: FrameRange): Buffer | null {
    const end = Math.min(to, from + FRAMES_MAX, this.#newestFrame() + 1);
    if (end <= from) return null;
    const frames = Buffer.alloc((end - from) * FRAME_BYTES);
    const log = openSync(logPath(this.#path), 'r');
    try {
      readSync(log, frames, 0, frames.length, logBytes(from - 1));
    } finally {
      closeSync(log);
    }
    return frames;
  }

  /** When the database is closed. */
  close(): void {
    releaseIndex(`${this.#path}-shm`, this.#index);
    closeSync(this.#file);
  }

  #newestFrame(): number {
    const newest = new Uint32Array(1);
    readSync(this.#index, newest, 0, 4, NEWEST_FRAME_AT);
    return newest[0] ?? 0;
  }
}
