/**
 * How much may be under way together, and who waits for a place. What a project has may be a share in that of all, so that
 * one of them cannot take everything.
 */
export class Semaphore {
  readonly #max: number;
  readonly #ofAll: Semaphore | null;
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>();
  #used = 0;

  constructor(max: number, ofAll: Semaphore | null = null) {
    this.#max = max;
    this.#ofAll = ofAll;
  }

  /**
   * Takes `weight` slots while there is one left: something heavy need not wait until there is room for all of it.
   * Otherwise `again` is called when it may try again; each waits once, however often it asks.
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

  /** Does some work while it holds so many slots, as soon as it has them. */
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
