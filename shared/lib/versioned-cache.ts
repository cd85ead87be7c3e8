/**
 * Caches values by hash or token, so that calls needn't ask the database again. Any change to such a value clears the
 * cache.
 */
export class VersionedCache<T> {
  readonly #found = new Map<string, T>();
  readonly #remembers: boolean;
  readonly #max: number;
  #version = 0;

  /**
   * Without `remembers` it caches nothing, for data that others may change unseen. Above `max` entries it starts over.
   */
  constructor({ remembers = true, max = Number.POSITIVE_INFINITY } = {}) {
    this.#remembers = remembers;
    this.#max = max;
  }

  /** Goes up with every change, so that a value read before a change isn't cached after it. */
  get version(): number {
    return this.#version;
  }

  get(name: string): T | undefined {
    return this.#found.get(name);
  }

  /** `version` is the one from before the value was read. */
  set(name: string, found: T, version: number): void {
    if (!this.#remembers || version !== this.#version) return;
    if (this.#found.size >= this.#max) this.#found.clear();
    this.#found.set(name, found);
  }

  clear(): void {
    this.#version += 1;
    this.#found.clear();
  }
}
