/**
 * Limits concurrent work, and queues callers for a free slot. A project's semaphore can take its slots from a shared
 * one, so that one project can't take everything.
 */
export class Semaphore {
  readonly #max: number;
  readonly #ofAll: Semaphore | null;
  /** In order of arrival. */
  readonly #waiting = new Set<() => void>();
  #used = 0;

  constructor(max: number, ofAll: Semaphore | null = null) {
    this.#max = max;
    this.#ofAll = ofAll;
  }

  /**
   * Takes `weight` slots if at least one is free, so that heavy work needn't wait until all of its slots are. If not,
   * it calls `again` when the caller may try again; a caller waits once, however often it asks.
   */
  take(weight: number, again: () => void): boolean {
    if (this.#used >= this.#max) {
      this.#waiting.add(again);
      return false;
    }
    if (this.#ofAll?.take(weight, again) === false) return false;
    this.#used += weight;
    return true;
  }

  /** Waits for `weight` slots, runs `work`, and returns the slots. */
  async within<T>(weight: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      const enter = (): void => {
        if (this.take(weight, enter)) resolve();
      };
      enter();
    });
    try {
      return await work();
    } finally {
      this.give(weight);
    }
  }

  give(weight: number): void {
    this.#used -= weight;
    this.#ofAll?.give(weight);
    for (const again of this.#waiting) {
      if (this.#used >= this.#max) return;
      this.#waiting.delete(again);
      again();
    }
  }
}
