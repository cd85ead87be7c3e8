import { Backoff } from './backoff.ts';
import { machineClock, type Clock } from './clock.ts';
import { canBeSatOut, messageOf, sentence } from './errors.ts';

/** A proxy that ends silent calls cuts one only after a while. */
const HELD_MS = 1_000;

interface RetryOptions {
  /** Stops retrying. */
  readonly signal: AbortSignal;
  /** Called once when a series of failures starts, and once when it ends. */
  readonly trouble: (text: string) => void;
  readonly clock?: Clock | undefined;
}

/** Repeats a call until it's answered, through network trouble. */
export class RetryingCalls {
  readonly #options: RetryOptions;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  #isTroubled = false;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? machineClock;
    this.#backoff = new Backoff(undefined, options.clock);
  }

  /** Null once the signal is aborted. Throws refusals. */
  async answer<T>(ask: () => Promise<T>): Promise<T | null> {
    const { signal, trouble } = this.#options;
    while (!signal.aborted) {
      const began = this.#clock.now();
      try {
        const answer = await ask();
        if (this.#isTroubled) trouble('Connected again.');
        this.#isTroubled = false;
        this.#backoff.succeeded();
        return answer;
      } catch (error) {
        if (signal.aborted) return null;
        if (!canBeSatOut(error)) throw error;
        // The connection works between cuts, so the next call needn't wait longer than the last.
        if (this.#clock.now() - began >= HELD_MS) this.#backoff.succeeded();
        if (!this.#isTroubled) trouble(`${sentence(messageOf(error))} Trying again.`);
        this.#isTroubled = true;
        await this.#backoff.pause(error, signal);
      }
    }
    return null;
  }
}
