import type { PositionWaiters } from './position-waiters.ts';

interface Met {
  readonly position: number;
  readonly isOtherHistory: boolean;
  readonly lost: number;
}

/** What this daemon has written through the gateway: its own later reads are to see it. */
export class Written {
  readonly #positionWaiters: PositionWaiters;
  /** Asks the gateway how far it is. */
  readonly #ask: () => Promise<number>;
  #position = 0;
  /** Counts writes whose answer was lost. */
  #lost = 0;
  /** So many of them are known to be below `#position`. */
  #found = 0;
  #asking: Promise<void> | null = null;

  constructor(positionWaiters: PositionWaiters, ask: () => Promise<number>) {
    this.#positionWaiters = positionWaiters;
    this.#ask = ask;
  }

  /** `position` of a write; null when its answer was lost, so that it may or may not have been done. */
  note(position: number | null): void {
    if (position === null) {
      this.#lost += 1;
      this.#findOut();
      return;
    }
    this.#position = Math.max(this.#position, position);
    this.#positionWaiters.aim(position);
  }

  /** So many answers were lost until now: to be taken before the gateway is asked how far it is, for `met`. */
  get lost(): number {
    return this.#lost;
  }

  /** The gateway is as far as this: whatever was written before it was asked, when `lost` was taken, is not above it. */
  met({ position, isOtherHistory, lost }: Met): void {
    this.#position = isOtherHistory ? position : Math.max(this.#position, position);
    this.#found = Math.max(this.#found, lost);
  }

  /** True as soon as the copy has all that was noted; false after `withinMs`. */
  async settled(withinMs: number): Promise<boolean> {
    const endsAt = performance.now() + withinMs;
    if (this.#found < this.#lost) {
      this.#findOut();
      await before(endsAt, this.#asking);
      if (this.#found < this.#lost) return false;
    }
    return this.#positionWaiters.reached(this.#position, endsAt - performance.now());
  }

  #findOut(): void {
    this.#asking ??= this.#find().finally(() => {
      this.#asking = null;
    });
  }

  async #find(): Promise<void> {
    const lost = this.#lost;
    try {
      this.note(await this.#ask());
      this.#found = Math.max(this.#found, lost);
    } catch {
      // Known as soon as the gateway is met again.
    }
  }
}

async function before(endsAt: number, work: Promise<void> | null): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, endsAt - performance.now()));
  });
  await Promise.race([work, timeout]);
  clearTimeout(timer);
}
