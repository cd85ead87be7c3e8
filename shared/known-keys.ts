import type { FoundKey } from './store/keys.ts';

/** A project has twenty active keys; those revoked and rotated since the last change are few. */
const KEYS_MAX = 200;

/**
 * Keys that were found, so that a call does not ask the database who calls. Everything that changes a key empties it; when
 * the key was last used is not told here.
 */
export class KnownKeys {
  readonly #found = new Map<string, FoundKey>();
  readonly #remembers: boolean;
  #stamp = 0;

  /** One that remembers nothing is for keys that others may change unseen. */
  constructor({ remembers = true } = {}) {
    this.#remembers = remembers;
  }

  /** Goes up with every change: what was read before it is not to be remembered after it. */
  get stamp(): number {
    return this.#stamp;
  }

  get(hash: string): FoundKey | undefined {
    return this.#found.get(hash);
  }

  /** `stamp` is the one from before the key was read. */
  set(hash: string, found: FoundKey, stamp: number): void {
    if (!this.#remembers || stamp !== this.#stamp) return;
    if (this.#found.size >= KEYS_MAX) this.#found.clear();
    this.#found.set(hash, found);
  }

  clear(): void {
    this.#stamp += 1;
    this.#found.clear();
  }
}
