import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '../../shared/store/log-files.ts';
import { parseObject } from '../../shared/lib/guards.ts';

const EVEN_MS = 3_600_000;
/** More than this ahead of the time that really passed is a jump. */
const JUMP_MS = 3_600_000;
const KEEP_EVERY_MS = 600_000;
const FILE = 'clock.json';

/** Says as of when rows may be deleted for their age: the clock may be wrong, and a deletion can't be undone. */
export interface DeletionClock {
  /** Never after `now`; null while nothing may be deleted. */
  asOf(now: number): number | null;
  /** Milliseconds until `asOf` moves on if the clock runs evenly; 0 while it is `now`. */
  waitMs(): number;
  /** Keeps what it knows for the next run. */
  close?(): void;
}

/** What one run leaves to the next. Times are those of the wall. */
export interface ClockNotes {
  /** A time that the clock had reached and did not fall behind while the process ran for an hour. */
  readonly trusted: number | null;
  /** The time that is to be trusted next, and for how long the process has run since the clock showed it. */
  readonly shown: number;
  readonly ranMs: number;
}

/**
 * Compares the machine's clock with the time that passes. In one run the clock can be trusted once it has run evenly for an
 * hour. The hour begins again at a jump ahead: somebody set the clock, or the machine was suspended, which looks the same
 * from here. Between two runs nobody knows how much time passed, so a run that is shorter than the hour trusts an earlier
 * time only: one that the clock has shown, and not fallen behind, for an hour of all runs together. A jump ahead thus
 * deletes nothing until the process has run for an hour after it, however often it is started again.
 */
export class TrustedClock implements DeletionClock {
  readonly #wallMs: () => number;
  readonly #passedMs: () => number;
  #trusted: number | null;
  #shown: number;
  #ranMs: number;
  #evenSince: number;
  #offset: number;
  #lookedAt: number;

  /** The functions are there for tests. */
  constructor(
    notes: ClockNotes | null,
    wallMs: () => number = () => Date.now(),
    passedMs: () => number = () => performance.now(),
  ) {
    this.#wallMs = wallMs;
    this.#passedMs = passedMs;
    const passed = passedMs();
    this.#trusted = notes?.trusted ?? null;
    this.#shown = notes?.shown ?? wallMs();
    this.#ranMs = notes?.ranMs ?? 0;
    this.#evenSince = passed;
    this.#offset = wallMs() - passed;
    this.#lookedAt = passed;
  }

  asOf(now: number): number | null {
    if (this.#look() === 0) return now;
    return this.#trusted === null ? null : Math.min(this.#trusted, now);
  }

  waitMs(): number {
    const wait = this.#look();
    return wait === 0 ? 0 : Math.ceil(Math.min(wait, EVEN_MS - this.#ranMs));
  }

  get notes(): ClockNotes {
    this.#look();
    return { trusted: this.#trusted, shown: this.#shown, ranMs: this.#ranMs };
  }

  /** Answers how long the clock has yet to run evenly. */
  #look(): number {
    const passed = this.#passedMs();
    const wall = this.#wallMs();
    this.#ranMs += passed - this.#lookedAt;
    this.#lookedAt = passed;
    const offset = wall - passed;
    if (offset - this.#offset > JUMP_MS) {
      this.#evenSince = passed;
      this.#offset = offset;
    }
    // A clock that was set back must not hide a later jump ahead.
    this.#offset = Math.min(this.#offset, offset);
    this.#distrust(wall);
    const wait = Math.max(0, this.#evenSince + EVEN_MS - passed);
    if (wait === 0) this.#trusted = wall;
    else if (this.#ranMs >= EVEN_MS) this.#trusted = this.#shown;
    else return wait;
    this.#shown = wall;
    this.#ranMs = 0;
    return wait;
  }

  /** A clock that shows an earlier time than before was wrong then, or is wrong now. */
  #distrust(wall: number): void {
    if (this.#trusted !== null && this.#trusted - wall > JUMP_MS) this.#trusted = null;
    if (wall >= this.#shown) return;
    this.#shown = wall;
    this.#ranMs = 0;
  }
}

/** The same, with its notes in a file of the data folder. */
export class SavedTrustedClock extends TrustedClock {
  readonly #file: string;
  readonly #timer: NodeJS.Timeout;

  constructor(dataFolder: string, wallMs?: () => number, passedMs?: () => number) {
    const file = join(dataFolder, FILE);
    super(notesIn(file), wallMs, passedMs);
    this.#file = file;
    // A process that is killed leaves what it knew a while ago.
    this.#timer = setInterval(() => this.#keep(), KEEP_EVERY_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#keep();
  }

  #keep(): void {
    try {
      writeDurably(this.#file, `${JSON.stringify(this.notes)}\n`);
    } catch {
      // A full disk: the next run waits for longer.
    }
  }
}

function notesIn(file: string): ClockNotes | null {
  try {
    const { trusted, shown, ranMs } = parseObject(readFileSync(file, 'utf8')) ?? {};
    if (typeof shown !== 'number' || typeof ranMs !== 'number') return null;
    return { trusted: typeof trusted === 'number' ? trusted : null, shown, ranMs };
  } catch {
    return null;
  }
}
