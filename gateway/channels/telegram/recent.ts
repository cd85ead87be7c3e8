import type { Clock } from '../../../shared/lib/clock.ts';

/** Remembers a limited number of things for a while and forgets the oldest first. */
export class Recent<K, V> {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #maxCount: number;
  readonly #entries = new Map<K, { readonly value: V; readonly until: number }>();

  constructor(clock: Clock, limits: { readonly keptMs: number; readonly maxCount: number }) {
    this.#clock = clock;
    this.#keptMs = limits.keptMs;
    this.#maxCount = limits.maxCount;
  }

  get(key: K): V | null {
    const entry = this.#entries.get(key);
    return entry && entry.until > this.#clock.now() ? entry.value : null;
  }

  set(key: K, value: V): void {
    // Insert it again, so that the map stays in order of time.
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#clock.now() + this.#keptMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxCount) break;
      this.#entries.delete(oldest);
    }
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}
