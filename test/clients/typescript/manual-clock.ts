import type { Clock } from '../../../clients/typescript/core/clock.ts';

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
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

  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers) if (sleeper.at <= this.#now) sleeper.wake();
  }
}
