import { statSync } from 'node:fs';
import { unavailable } from '../../lib/errors.ts';
import type { BaseCopy, LogPosition } from '../engine/driver.ts';
import { archiveFolder, LogArchive } from './log-archive.ts';
import {
  endHistory,
  marksOf,
  nextState,
  readState,
  resume,
  writeFirstState,
  writeState,
  type LogState,
} from './log-state.ts';
import { logPath, saltsOf, type WriteAheadLog } from './wal.ts';

const HOUR_MS = 3_600_000;
/** How long we keep the log after the last call of `follow`. */
const FOLLOWED_MS = 24 * HOUR_MS;

/** Crash points that recover differently. */
export type CrashPoint =
  | 'follow: log emptied'
  | 'follow: state written'
  | 'rotate: log copied'
  | 'rotate: archive named'
  | 'rotate: log emptied'
  | 'rotate: log kept'
  | 'rotate: log set aside'
  | 'commit: not recorded'
  | 'commit: log begun in place'
  | 'commit: archive named'
  | 'state written'
  | 'base copied';

export interface GenerationOptions {
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** How much archived logs may take; null, the default, goes by the size of the database. */
  readonly archiveBytes?: number | null;
  /** For tests that kill the process at a crash point. */
  readonly at?: (point: CrashPoint) => void;
}

/**
 * The generations of a followed log. The current log is one of them. When it gets long, we archive it, checkpoint it
 * into the database file and start the next one. Nothing else ever checkpoints it, so the file stays as it was when the
 * generation began.
 *
 * After a crash, the state file and the log's salts show what happened. If they can't explain what we find, the history
 * ends and replicas copy the file again. Call the methods between transactions, and the asynchronous ones while no
 * transaction runs.
 */
export class Generations {
  readonly #path: string;
  readonly #folder: string;
  readonly #options: GenerationOptions;
  readonly #archive: LogArchive;
  #log: WriteAheadLog | null = null;
  #state: LogState | null = null;
  /** Committed frames of the current generation, at the last refresh. */
  #frames = 0;
  /** The log's expected salts; null until they can be known. */
  #salts: string | null = null;
  /**
   * The frames already copied when the log couldn't be emptied. SQLite may restart the log in place only as long as
   * this is all of them.
   */
  #setAside: number | null = null;
  #copying: Promise<BaseCopy> | null = null;
  readonly #stopped = new AbortController();

  /** Call it before the database is opened, because opening may change the files that it examines. */
  constructor(databasePath: string, options: GenerationOptions) {
    this.#path = databasePath;
    this.#folder = archiveFolder(databasePath);
    this.#options = options;
    this.#archive = new LogArchive(this.#folder, options.archiveBytes ?? null);
    this.#resume();
  }

  /** Call it once the database is open. */
  attach(log: WriteAheadLog): void {
    this.#log = log;
    if (!this.#state) return;
    this.#salts = this.#state.salts;
    // Frames that we announced to someone are gone.
    if (this.#salts !== null && log.head().frames === 0) this.#end();
    this.refresh();
  }

  /**
   * True if the file may already contain frames of this generation. If another process has kept the log's index alive,
   * any write may then restart the log in place, so rotate it first.
   */
  get mustRotate(): boolean {
    return this.#state !== null && this.#isCheckpointed();
  }

  get isKept(): boolean {
    return this.#state !== null;
  }

  /** Null while the log isn't kept. */
  get position(): LogPosition | null {
    if (!this.#state) return null;
    const { epoch, generation } = this.#state;
    const salts = this.#frames > 0 ? this.#salts : null;
    return { epoch, generation, frames: this.#frames, salts };
  }

  /** Call it after each transaction, even one that was rolled back: its writes may have restarted the log. */
  refresh(): void {
    if (!this.#state) return;
    const { frames, salts } = this.#opened().head();
    if (this.#salts !== null && this.#salts !== salts) this.#begunInPlace(frames, salts);
    if (!this.#state) return;
    this.#frames = frames;
    if (frames === 0) return;
    this.#salts = salts;
    if (this.#state.salts !== null) return;
    this.#at('commit: not recorded');
    this.#record({ ...this.#state, salts, fileMarks: null });
  }

  /** Starts a history if there is none. UNAVAILABLE while another process reads from the log. */
  async follow(): Promise<void> {
    const followedAt = this.#options.now();
    if (this.#state) {
      if (Math.abs(followedAt - this.#state.followedAt) < HOUR_MS) return;
      return this.#record({ ...this.#state, followedAt });
    }
    const log = this.#opened();
    await log.truncate();
    if (!log.isTruncated()) throw unavailable(1, new Error('The log is in use by somebody else.'));
    this.#at('follow: log emptied');
    this.#state = writeFirstState(this.#folder, { followedAt, fileMarks: marksOf(this.#path) });
    this.#begin(log.head().salts);
    this.#at('follow: state written');
  }

  /**
   * Starts a new generation with an empty log. Returns false if it must be tried again later, because another process
   * reads from the log or a copy of the file is being made.
   */
  async rotate(): Promise<boolean> {
    const state = this.#state;
    if (!state || this.#frames === 0) return true;
    if (this.#copying) return false;
    const log = this.#opened();
    const isFollowed = Math.abs(this.#options.now() - state.followedAt) < FOLLOWED_MS;
    if (!isFollowed || !(await this.#archiveLog(state))) {
      this.#end();
      await log.truncate();
      return true;
    }
    try {
      await log.truncate();
      this.#at('rotate: log emptied');
      if (log.isTruncated()) {
        this.#advance(log.head().salts, 0);
        return true;
      }
      this.#at('rotate: log kept');
      this.#keepLog(state);
      return false;
    } catch (error) {
      this.#keepLog(state);
      throw error;
    }
  }

  /** Starts to copy the file. The log isn't rotated meanwhile. Don't wait for the copy inside the write queue. */
  async beginCopy(): Promise<{ readonly copying: Promise<BaseCopy> }> {
    if (this.#copying) return { copying: this.#copying };
    const found = this.#state && this.#archive.findBase(this.#state);
    if (found) return { copying: Promise.resolve(found) };
    const isBase = !this.#isCheckpointed() || (await this.rotate());
    if (!this.#state) throw unavailable(1, new Error('The log is not kept: follow comes first.'));
    if (!isBase) throw unavailable(5, new Error('The log is in use by somebody else.'));
    const copying = this.#copy(this.#state).finally(() => (this.#copying = null));
    this.#copying = copying;
    // The caller gets the error from `copying`.
    copying.catch(() => undefined);
    return { copying };
  }

  /** Resolves when no copy is in progress, so that the log may rotate. */
  async copied(): Promise<void> {
    await this.#copying?.catch(() => undefined);
  }

  /** Aborts a copy in progress and prevents new ones. */
  async stopCopying(): Promise<void> {
    this.#stopped.abort();
    await this.copied();
  }

  /** Call it when the database is closed. */
  close(): void {
    this.#archive.close();
  }

  #resume(): void {
    const state = readState(this.#folder);
    const resumed =
      state &&
      resume(state, {
        salts: saltsOf(logPath(this.#path)),
        hasArchive: this.#archive.has(state.generation),
        fileMarks: marksOf(this.#path),
      });
    if (!resumed) return this.#end();
    if (resumed === state) this.#state = state;
    else this.#record(resumed);
    if (!this.#state) return;
    this.#archive.clean(this.#state.generation);
    this.#tidy();
  }

  /** Handles a log whose salts have changed. */
  #begunInPlace(frames: number, salts: string): void {
    if (!this.#state || this.#setAside !== this.#frames) return this.#end();
    this.#at('commit: log begun in place');
    try {
      this.#archive.nameLog(this.#state.generation);
      this.#at('commit: archive named');
    } catch {
      return this.#end();
    }
    this.#advance(salts, frames);
  }

  /** False if the archive couldn't be written; then nobody can follow. */
  async #archiveLog({ generation }: LogState): Promise<boolean> {
    try {
      const { path } = this.#opened();
      await this.#archive.copyLog(path, generation, this.#setAside ?? 0, this.#frames);
      this.#at('rotate: log copied');
      this.#archive.nameLog(generation);
      this.#at('rotate: archive named');
      return true;
    } catch {
      // The disk is probably full. Accepting writes and freeing space matter more than the archive.
      return false;
    }
  }

  /**
   * The log couldn't be emptied, though some of it may be in the file already. From here it may grow on, or SQLite may
   * restart it in place.
   */
  #keepLog(state: LogState): void {
    if (!state.isCheckpointed) this.#record({ ...state, isCheckpointed: true });
    if (!this.#state) return;
    try {
      this.#archive.setLogAside(state.generation);
      this.#setAside = this.#frames;
    } catch {
      return this.#end();
    }
    this.#at('rotate: log set aside');
  }

  #advance(salts: string, frames: number): void {
    if (!this.#state) return;
    const begun =
      frames > 0 ? { salts, fileMarks: null } : { salts: null, fileMarks: marksOf(this.#path) };
    this.#record(nextState(this.#state, begun));
    if (!this.#state) return;
    this.#begin(salts);
    this.#tidy();
  }

  #tidy(): void {
    try {
      this.#archive.tidy(this.#options.now(), statSync(this.#path).size);
    } catch {
      // Too many files stay for now; the next generation tries again.
    }
  }

  #begin(salts: string): void {
    this.#frames = 0;
    this.#salts = salts;
    this.#setAside = null;
  }

  /** The database file may contain frames of this generation or a later one. */
  #isCheckpointed(): boolean {
    return this.#state?.isCheckpointed === true || this.#opened().head().checkpointedFrames > 0;
  }

  async #copy({ epoch, generation }: LogState): Promise<BaseCopy> {
    const { signal } = this.#stopped;
    const isUnchanged = (): boolean => this.#state?.epoch === epoch && !this.#isCheckpointed();
    try {
      const position = { epoch, generation };
      const copy = await this.#archive.makeBase(position, this.#path, { signal, isUnchanged });
      this.#at('base copied');
      return copy;
    } catch (error) {
      throw unavailable(1, error);
    }
  }

  /** Durable when it returns. If the state can't be stored, the history ends. */
  #record(state: LogState): void {
    try {
      writeState(this.#folder, state);
      this.#state = state;
      this.#at('state written');
    } catch {
      this.#end();
    }
  }

  #end(): void {
    this.#state = null;
    this.#setAside = null;
    this.#salts = null;
    this.#frames = 0;
    this.#archive.close();
    try {
      endHistory(this.#folder);
    } catch {
      // The next start can't explain the remaining files, so it deletes them.
    }
  }

  #at(point: CrashPoint): void {
    this.#options.at?.(point);
  }

  #opened(): WriteAheadLog {
    if (!this.#log) throw new Error('The database is not open.');
    return this.#log;
  }
}
