import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 5000;
const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 1000;

/** Tries again what a server in trouble failed to do, for about five seconds. */
export class RetryBudget {
  readonly #endsAt = performance.now() + PATIENCE_MS;
  #delayMs = FIRST_DELAY_MS;

  /** Waits a while, longer each time; false at once when there is no time left. */
  async lasts(): Promise<boolean> {
    // Gateways that wait for one another do not wait equally long.
    const delayMs = this.#delayMs * (0.5 + Math.random() / 2);
    if (performance.now() + delayMs > this.#endsAt) return false;
    await sleep(delayMs);
    this.#delayMs = Math.min(2 * this.#delayMs, LONGEST_DELAY_MS);
    return true;
  }
}
