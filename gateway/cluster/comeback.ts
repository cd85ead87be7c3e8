import type { Beat } from '../store/control/gateways.ts';

/** A gateway knows after this many heartbeats of its own that another one has started. */
export const KNOWN_AFTER_BEATS = 2;

/** Tracks a gateway that the others declared dead, until it can be relied on again. */
export class Comeback {
  readonly #learn: () => Promise<void>;
  /** How many more heartbeats until all others know that it's back. */
  #beatsUntilKnown = 0;
  /** How many calls of `learn` are under way. */
  #learning = 0;
  /** The newest heartbeat that was answered. */
  #answered = 0;

  /** `learn` resolves once this gateway knows what the others changed; it never rejects. */
  constructor(learn: () => Promise<void>) {
    this.#learn = learn;
  }

  /** It knows what the others changed, and they know that it's there. */
  get isOver(): boolean {
    return this.#beatsUntilKnown === 0 && this.#learning === 0;
  }

  /** Call it for each heartbeat. `isLost`: the others have declared this gateway dead, or may have. */
  note({ wasGone, before, others }: Beat, isLost: boolean): void {
    // The answer that said so may have been lost. In that case its row is new and counts from 1.
    const isNew = isLost && (wasGone || (before ?? 0) < this.#answered);
    if (isNew && others.length > 0) this.#beatsUntilKnown = KNOWN_AFTER_BEATS + 1;
    else if (this.#beatsUntilKnown > 0) this.#beatsUntilKnown -= 1;
    this.#answered = Math.max(before ?? 0, 0) + 1;
    if (!isLost) return;
    this.#learning += 1;
    void this.#learn().finally(() => (this.#learning -= 1));
  }
}
