import { machineClock, type Clock } from './clock.ts';
import { askedMs } from './errors.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
const ASKED_MAX_MS = 300_000;

/** Growing pauses between tries, with jitter so that many workers don't come back at once. */
export class Backoff {
  readonly #longestMs: number;
  readonly #clock: Clock;
  #failures = 0;

  constructor(longestMs = LONGEST_PAUSE_MS, clock: Clock = machineClock) {
    this.#longestMs = longestMs;
    this.#clock = clock;
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
    await this.#clock.sleep(Math.min(mostMs, Math.max(jittered, askedMs(error))), signal);
  }
}
