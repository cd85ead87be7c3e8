import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../lib/errors.ts';
import { isOfStatement, mayPass, wrongSetting } from './failure.ts';

const PATIENCE_MS = 5000;
const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 300;

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

/**
 * Repeats work that doesn't change anything, or that may be done twice, while the server is in trouble. UNAVAILABLE if
 * that lasts, or if the work would fail again. Errors that are `final` pass as they are, at once.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const budget = new RetryBudget();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error)) throw error;
      const isTemporary = mayPass(error) && !isOfStatement(error);
      if (isTemporary && (await budget.lasts())) continue;
      throw unavailable(5, wrongSetting(error) ?? error);
    }
  }
}
