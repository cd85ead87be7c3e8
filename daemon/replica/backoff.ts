/** Pauses between attempts. */
export interface BackoffRange {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Exponential backoff with full jitter: a pause is anything from nothing to a bound that doubles with each failure, so that
 * the daemons of a team do not come back to their gateway together.
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

  /** It worked: the next failure is the first one again. */
  reset(): void {
    this.#failures = 0;
  }
}
