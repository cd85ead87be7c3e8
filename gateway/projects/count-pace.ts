import type { Clock } from '../../shared/lib/clock.ts';
import type { Effect } from '../commit/context/job.ts';

const EVERY_COMMITS = 256;
const PAUSE_MS = 10_000;

/** Asks for the overview's counts to be brought up to date: after many commits, and not too often. */
export class CountPace {
  readonly #clock: Clock;
  readonly #atLatest: (dueAt: number) => void;
  /** Where it asked last, or began; null before the first commit that this process knows of. */
  #position: number | null = null;
  #askedFor = 0;

  constructor(clock: Clock, atLatest: (dueAt: number) => void) {
    this.#clock = clock;
    this.#atLatest = atLatest;
  }

  note(effect: Effect): void {
    if (effect.kind !== 'committed') return;
    const { position } = effect.replication;
    this.#position ??= position;
    if (position - this.#position < EVERY_COMMITS) return;
    this.#position = position;
    this.#askedFor = Math.max(this.#clock.now(), this.#askedFor + PAUSE_MS);
    this.#atLatest(this.#askedFor);
  }
}
