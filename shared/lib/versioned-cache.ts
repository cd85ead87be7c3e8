/**
 * What was read before, by the hash or token it is found by, so that a call need not ask the database again. Everything that
 * changes such a thing empties it.
 */
export class VersionedCache<T> {
  readonly #found = new Map<string, T>();
  readonly #remembers: boolean;
  readonly #max: number;
  #version = 0;

  /** One that remembers nothing is for what others may change unseen. It begins anew beyond `max`. */
  constructor({ remembers = true, max = Number.POSITIVE_INFINITY } = {}) {
    this.#remembers = remembers;
    this.#max = max;
  }

  /** Goes up with every change: what was read before it is not to be remembered after it. */
  get version(): number {
    return this.#version;
  }

  get(name: string): T | undefined {
    return this.#found.get(name);
  }

  /** `stamp` is the one from before it was read. */
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
