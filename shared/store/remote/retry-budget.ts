import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 5000;
const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 1000;

/** Allows retries for about five seconds while a server is in trouble. */
export class RetryBudget {
  readonly #endsAt = performance.now() + PATIENCE_MS;
  #delayMs = FIRST_DELAY_MS;

  /** Waits before a retry, longer each time; returns false at once if no time is left. */
  async lasts(): Promise<boolean> {
    // Random delays keep gateways from retrying in step.
    const delayMs = this.#delayMs * (0.5 + Math.random() / 2);
    if (performance.now() + delayMs > this.#endsAt) return false;
    await sleep(delayMs);
    this.#delayMs = Math.min(2 * this.#delayMs, LONGEST_DELAY_MS);
    return true;
  }
}
