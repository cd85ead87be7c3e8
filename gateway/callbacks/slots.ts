/**
 * How much may be under way to all destinations together, and who waits for a place. What a project has is a share in that
 * of all, so that one of them cannot take everything.
 */
export class Slots {
  readonly #max: number;
  readonly #ofAll: Slots | null;
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>();
  #used = 0;

  constructor(max: number, ofAll: Slots | null = null) {
    this.#max = max;
    this.#ofAll = ofAll;
  }

  /**
   * Takes `weight` slots while there is one left: a heavy delivery need not wait until there is room for all of it.
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
