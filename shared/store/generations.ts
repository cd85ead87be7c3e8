import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unavailable } from '../lib/errors.ts';
import type { BaseCopy, LogPosition } from './driver.ts';
import { LogArchive } from './log-archive.ts';
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
/** The log is kept for this long after `follow` was last called. */
const FOLLOWED_MS = 24 * HOUR_MS;

/** Where a crash has consequences of its own. */
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
  /** Milliseconds. */
  readonly now: () => number;
  /** For tests, which end the process there. */
  readonly at?: (point: CrashPoint) => void;
}

/**
 * The generations of a followed log. The log at hand is one; when it gets long it is archived, folded in, and the next one
 * begins. Nothing else ever folds it in, so the database file stays as the generation found it. What happens here is
 * told apart after a crash by the state file and the salts of the log; what cannot be explained ends the history, and
 * replicas copy the file anew. Methods are called between transactions, those that are asynchronous while none runs.
 */
export class Generations {
  readonly #path: string;
  readonly #folder: string;
  readonly #options: GenerationOptions;
  readonly #archive: LogArchive;
  #log: WriteAheadLog | null = null;
  #state: LogState | null = null;
  /** Committed frames of the generation at hand, as last looked. */
  #frames = 0;
  /** What the log's salts must be; null until they can be known. */
  #salts: string | null = null;
  /** Frames that were copied when the log could not be emptied. It may be begun anew in place as long as they are all. */
  #setAside: number | null = null;
  #copying: Promise<BaseCopy> | null = null;
  readonly #stopped = new AbortController();

  /** Before the database is opened, which may change what is found now. */
  constructor(databasePath: string, options: GenerationOptions) {
    this.#path = databasePath;
    this.#folder = join(dirname(databasePath), 'generations');
    this.#options = options;
    this.#archive = new LogArchive(this.#folder);
    this.#resume();
  }

  /** The database is open. */
  attach(log: WriteAheadLog): void {
    this.#log = log;
    if (!this.#state) return;
    this.#salts = this.#state.salts;
    // Frames that somebody was told of are no more.
    if (this.#salts !== null && log.head().frames === 0) this.#end();
    this.look();
  }

  /**
   * True when the file has some of this generation already. Then the log may be begun anew in place by any write, when
   * somebody else has kept its index alive since: it has to be rotated before.
   */
  get mustRotate(): boolean {
    return this.#state !== null && this.#isFoldedIn();
  }

  get isKept(): boolean {
    return this.#state !== null;
  }

  /** Null while the log is not kept. */
  get place(): LogPosition | null {
    if (!this.#state) return null;
    const { epoch, generation } = this.#state;
    const salts = this.#frames > 0 ? this.#salts : null;
    return { epoch, generation, frames: this.#frames, salts };
  }

  /** After each transaction, also one that was rolled back: what was written may have begun the log anew. */
  look(): void {
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

  /** Begins a history if none is kept. UNAVAILABLE while somebody else reads what is in the log. */
  async follow(): Promise<void> {
    const followedAt = this.#options.now();
    if (this.#state) {
      if (Math.abs(followedAt - this.#state.followedAt) < HOUR_MS) return;
      return this.#record({ ...this.#state, followedAt });
    }
    const log = this.#opened();
    await log.empty();
    if (!log.isEmptied()) throw unavailable(1, new Error('The log is in use by somebody else.'));
    this.#at('follow: log emptied');
    this.#state = writeFirstState(this.#folder, { followedAt, fileMarks: marksOf(this.#path) });
    this.#begin(log.head().salts);
    this.#at('follow: state written');
  }

  /**
   * Begins a generation, with nothing left in the log. False when that has to be tried again: somebody else reads from
   * the log, or the file is being copied.
   */
  async rotate(): Promise<boolean> {
    const state = this.#state;
    if (!state || this.#frames === 0) return true;
    if (this.#copying) return false;
    const log = this.#opened();
    const isFollowed = Math.abs(this.#options.now() - state.followedAt) < FOLLOWED_MS;
    if (!isFollowed || !(await this.#archiveLog(state))) {
      this.#end();
      await log.empty();
      return true;
    }
    try {
      await log.empty();
      this.#at('rotate: log emptied');
      if (log.isEmptied()) {
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

  /** Begins to copy the file, during which the log is not rotated; the copy is not to be waited for in the queue. */
  async beginCopy(): Promise<{ readonly copying: Promise<BaseCopy> }> {
    if (this.#copying) return { copying: this.#copying };
    const found = this.#state && this.#archive.findBase(this.#state);
    if (found) return { copying: Promise.resolve(found) };
    const isBase = !this.#isFoldedIn() || (await this.rotate());
    if (!this.#state) throw unavailable(1, new Error('The log is not kept: follow comes first.'));
    if (!isBase) throw unavailable(5, new Error('The log is in use by somebody else.'));
    const copying = this.#copy(this.#state).finally(() => (this.#copying = null));
    this.#copying = copying;
    // Whoever asked gets the error.
    copying.catch(() => undefined);
    return { copying };
  }

  /** Ends when no copy is being made: then the log may be rotated. */
  async copied(): Promise<void> {
    await this.#copying?.catch(() => undefined);
  }

  /** Gives up the copy that is being made, and makes no more. */
  async stopCopying(): Promise<void> {
    this.#stopped.abort();
    await this.copied();
  }

  /** When the database is closed. */
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
    if (this.#state) this.#archive.clean(this.#state.generation);
  }

  /** The log has other salts. */
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

  /** False when there is no archive, which nobody can follow. */
  async #archiveLog({ generation }: LogState): Promise<boolean> {
    try {
      const { path } = this.#opened();
      await this.#archive.copyLog(path, generation, this.#setAside ?? 0, this.#frames);
      this.#at('rotate: log copied');
      this.#archive.nameLog(generation);
      this.#at('rotate: archive named');
      return true;
    } catch {
      // Most likely the disk is full. To take writes comes first, and so does to give room back.
      return false;
    }
  }

  /** It could not be emptied, though some of it may be folded in. Now it may go on, or be begun anew in place. */
  #keepLog(state: LogState): void {
    if (!state.isFoldedIn) this.#record({ ...state, isFoldedIn: true });
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
    try {
      this.#archive.tidy(this.#options.now(), statSync(this.#path).size);
    } catch {
      // There is too much for a while: the next generation tries again.
    }
  }

  #begin(salts: string): void {
    this.#frames = 0;
    this.#salts = salts;
    this.#setAside = null;
  }

  /** The database file may have some of this generation's frames, or of a later one. */
  #isFoldedIn(): boolean {
    return this.#state?.isFoldedIn === true || this.#opened().head().foldedFrames > 0;
  }

  async #copy({ epoch, generation }: LogState): Promise<BaseCopy> {
    const { signal } = this.#stopped;
    const isUnchanged = (): boolean => this.#state?.epoch === epoch && !this.#isFoldedIn();
    try {
      const place = { epoch, generation };
      const copy = await this.#archive.makeBase(place, this.#path, { signal, isUnchanged });
      this.#at('base copied');
      return copy;
    } catch (error) {
      throw unavailable(1, error);
    }
  }

  /** Durable when it returns. What cannot be recorded ends the history. */
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
      // What is left of it is found unexplained when the database is opened again, and then deleted.
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
