import type { Clock } from '../core/clock.ts';

/** Pauses before another try and between two checks are shorter; leases and their beats are longer. */
const SHORT_MS = 15_000;

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Stands still until a test moves it. A short pause, which nothing else could end, moves it. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers) if (sleeper.at <= this.#now) sleeper.wake();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (ms >= SHORT_MS) return this.#wait(ms, signal);
    this.advance(ms);
    // Others get their turn.
    await new Promise((resolve) => setImmediate(resolve));
    return !signal.aborted;
  }

  #wait(ms: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isOver: boolean): void => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', aborted);
        resolve(isOver);
      };
      const aborted = (): void => end(false);
      const sleeper = { at: this.#now + ms, wake: () => end(true) };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', aborted, { once: true });
    });
  }
}
