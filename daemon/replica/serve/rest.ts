/** A commit after such a rest is synced at once. */
const QUIET_MS = 15;
/** How long to rest while more commits keep arriving. */
const BUSY_MS = 60;
/** On a busy machine: this many times as long as the sync took, up to the second number. */
const TIMES = 3;
const MAX_MS = 250;

/**
 * How long a replica rests between syncs. Each sync costs about the same however much it brings, so commits in the meantime
 * share the next one: the more there are, and the busier the machine is, the longer the rest.
 */
export class Rest {
  #leastMs = QUIET_MS;

  /** The rest in milliseconds after a sync that took `tookMs`. `wasDue`: it was due before the last rest ended. */
  after(tookMs: number, wasDue: boolean): number {
    this.#leastMs = wasDue ? Math.min(BUSY_MS, 2 * this.#leastMs) : QUIET_MS;
    return Math.min(MAX_MS, Math.max(this.#leastMs, TIMES * tookMs));
  }
}
