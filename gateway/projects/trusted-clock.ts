import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '../../shared/store/log/log-files.ts';
import { parseObject } from '../../shared/lib/guards.ts';

const EVEN_MS = 3_600_000;
/** If the clock gains more than this on the time that really passed, it jumped. */
const JUMP_MS = 3_600_000;
const KEEP_EVERY_MS = 600_000;
const FILE = 'clock.json';

/** Decides up to which time rows may be deleted for their age: the clock may be wrong, and a deletion can't be undone. */
export interface DeletionClock {
  /** Never after `now`; null while nothing may be deleted. */
  asOf(now: number): number | null;
  /** Milliseconds until `asOf` moves on if the clock runs evenly; 0 if it's `now`. */
  waitMs(): number;
  /** Saves what it knows for the next run. */
  close?(): void;
}

/** What one run saves for the next. Times are wall-clock times. */
export interface ClockNotes {
  /** A time that the clock reached and didn't fall behind while the process ran for an hour. */
  readonly trusted: number | null;
  /** The time to be trusted next, and how long the process has run since the clock showed it. */
  readonly shown: number;
  readonly ranMs: number;
}

/**
 * Compares the machine's clock with the time that passes. Within a run, the clock is trusted once it has run evenly for
 * an hour. A jump ahead restarts the hour: either somebody set the clock or the machine was suspended, and the two look
 * the same. Nobody knows how much time passed between two runs, so a run shorter than an hour trusts only an earlier
 * time: one that the clock has shown, and not fallen behind, for an hour over all runs. So after a jump ahead nothing is
 * deleted until the process has run for an hour, however often it restarts.
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

  /** Tests replace these functions. */
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

  /** Returns how much longer the clock must run evenly. */
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
    // Setting the clock back must not hide a later jump ahead.
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

  /** If the clock shows an earlier time than before, it was wrong then or is wrong now. */
  #distrust(wall: number): void {
    if (this.#trusted !== null && this.#trusted - wall > JUMP_MS) this.#trusted = null;
    if (wall >= this.#shown) return;
    this.#shown = wall;
    this.#ranMs = 0;
  }
}

/** The same, with its state saved in a file in the data folder. */
export class SavedTrustedClock extends TrustedClock {
  readonly #file: string;
  readonly #timer: NodeJS.Timeout;

  constructor(dataFolder: string, wallMs?: () => number, passedMs?: () => number) {
    const file = join(dataFolder, FILE);
    super(notesIn(file), wallMs, passedMs);
    this.#file = file;
    // A killed process leaves the state it saved a while ago.
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
      // On a full disk, the next run waits longer.
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
