import { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import { canBeSatOut, messageOf, sentence } from './errors.ts';

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
  readonly #backoff: Backoff;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.#backoff = new Backoff(undefined, options.clock);
  }

  /** Null once the signal is aborted. Throws refusals. */
  async answer<T>(ask: () => Promise<T>): Promise<T | null> {
    const { signal, trouble } = this.#options;
    while (!signal.aborted) {
      try {
        const answer = await ask();
        if (this.#backoff.failures > 0) trouble('Connected again.');
        this.#backoff.succeeded();
        return answer;
      } catch (error) {
        if (signal.aborted) return null;
        if (!canBeSatOut(error)) throw error;
        if (this.#backoff.failures === 0) trouble(`${sentence(messageOf(error))} Trying again.`);
        await this.#backoff.pause(error, signal);
      }
    }
    return null;
  }
}
