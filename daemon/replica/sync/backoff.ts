/** Pauses between attempts. */
export interface BackoffRange {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Exponential backoff with full jitter: each pause is random, up to a limit that doubles with every failure. So the
 * daemons of a team don't all return to their gateway at once.
 */
export class Backoff {
  readonly #range: BackoffRange;
  readonly #random: () => number;
  #failures = 0;

  constructor(range: BackoffRange, random: () => number = Math.random) {
    this.#range = range;
    this.#random = random;
  }

  nextMs(): number {
    const bound = Math.min(this.#range.maxMs, this.#range.firstMs * 2 ** this.#failures);
    this.#failures += 1;
    return Math.round(bound * this.#random());
  }

  /** Call it after a success: the next failure counts as the first. */
  reset(): void {
    this.#failures = 0;
  }
}
