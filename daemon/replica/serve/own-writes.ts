import type { PositionWaiters } from './position-waiters.ts';

interface GatewayContact {
  readonly position: number;
  readonly isOtherHistory: boolean;
  readonly lost: number;
}

interface PositionAnswer {
  readonly gateway: { readonly position: number };
  readonly lost: number;
}

/** This daemon's own writes through the gateway, so that its later reads see them. */
export class OwnWrites {
  readonly #positionWaiters: PositionWaiters;
  /** Asks the gateway for its position, which has the first `lost` lost writes. */
  readonly #ask: () => Promise<PositionAnswer>;
  #position = 0;
  /** The number of writes with a lost answer. */
  #lost = 0;
  /** How many of them are known to be at or below `#position`. */
  #found = 0;
  #asking: Promise<void> | null = null;

  constructor(positionWaiters: PositionWaiters, ask: () => Promise<PositionAnswer>) {
    this.#positionWaiters = positionWaiters;
    this.#ask = ask;
  }

  /** Notes the position of a write; null if its answer was lost, so that it may or may not have happened. */
  note(position: number | null): void {
    if (position === null) {
      this.#lost += 1;
      this.#findOut();
      return;
    }
    this.#take(position);
  }

  /** The number of lost answers so far. Read it before you ask the gateway for its position, and pass it to `onConnected`. */
  get lost(): number {
    return this.#lost;
  }

  /** The gateway's position covers all writes before the question, including the first `lost` lost ones. */
  onConnected({ position, isOtherHistory, lost }: GatewayContact): void {
    this.#position = isOtherHistory ? position : Math.max(this.#position, position);
    this.#found = Math.max(this.#found, lost);
  }

  /** True as soon as the replica has all noted writes; false after `withinMs`. */
  async settled(withinMs: number): Promise<boolean> {
    const endsAt = performance.now() + withinMs;
    if (this.#found < this.#lost) {
      this.#findOut();
      await before(endsAt, this.#asking);
      if (this.#found < this.#lost) return false;
    }
    return this.#positionWaiters.reached(this.#position, endsAt - performance.now());
  }

  #take(position: number): void {
    this.#position = Math.max(this.#position, position);
    this.#positionWaiters.setTarget(position);
  }

  #findOut(): void {
    this.#asking ??= this.#find().finally(() => {
      this.#asking = null;
    });
  }

  async #find(): Promise<void> {
    try {
      const { gateway, lost } = await this.#ask();
      this.#take(gateway.position);
      this.#found = Math.max(this.#found, lost);
    } catch {
      // The next contact with the gateway answers it.
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
