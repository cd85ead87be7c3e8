import { setTimeout as delay } from 'node:timers/promises';
import { CallError } from '../errors.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
const ASKED_MAX_MS = 300_000;

/** An error answer's code, or null for anything else. */
export function answeredCode(error: unknown): string | null {
  return error instanceof CallError ? error.code : null;
}

/** Growing pauses between tries, with jitter so that many workers don't come back at once. */
export class Backoff {
  readonly #longestMs: number;
  #failures = 0;

  constructor(longestMs = LONGEST_PAUSE_MS) {
    this.#longestMs = longestMs;
  }

  /** How many tries have failed since the last success. */
  get failures(): number {
    return this.#failures;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Waits before the next try: as long as the server asked, otherwise longer each time; at most `mostMs`. */
  async pause(error: unknown, signal: AbortSignal, mostMs = ASKED_MAX_MS): Promise<void> {
    const grown = Math.min(this.#longestMs, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    const jittered = grown / 2 + (Math.random() * grown) / 2;
    await sleep(Math.min(mostMs, Math.max(jittered, askedMs(error))), signal);
  }
}

/** How long the server asked to wait, or 0. */
export function askedMs(error: unknown): number {
  if (!(error instanceof CallError)) return 0;
  const seconds = error.details?.['retry_after'];
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : 0;
}

/** Waits; false if the signal ended the wait. */
export async function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/**
 * Slows down repeated claims: a wait answered by a lagging replica may briefly show an event another worker has taken.
 */
export class LostClaims {
  #id = '';
  #repeats = 0;

  /** Waits a little if the same event was lost twice in a row. */
  async pause(id: string, signal: AbortSignal): Promise<void> {
    this.#repeats = id === this.#id ? this.#repeats + 1 : 0;
    this.#id = id;
    if (this.#repeats > 0)
      await sleep(Math.min(2000, 20 * 2 ** Math.min(this.#repeats, 7)), signal);
  }
}
