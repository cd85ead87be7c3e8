/** Time, as the worker and its lease need it. A test can pass its own. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Waits; false if the signal ended the wait. */
  sleep(ms: number, signal: AbortSignal): Promise<boolean>;
}

/** A longer timer would end at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;
/** The wall clock is a little off all the time. */
const SUSPENDED_MS = 1000;

/** The machine's clock. It also counts the time that the machine slept, which timers don't. */
class MachineClock implements Clock {
  readonly #wallAtStart = Date.now();
  readonly #startedAt = performance.now();
  #slept = 0;

  now(): number {
    const here = performance.now();
    const ahead = Date.now() - this.#wallAtStart - (here - this.#startedAt);
    if (ahead > this.#slept + SUSPENDED_MS) this.#slept = ahead;
    return here + this.#slept;
  }

  sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    return sleep(ms, signal);
  }
}

export const machineClock: Clock = new MachineClock();

/** Waits; rejects when the signal ends the wait. */
export async function pauseWhile(
  clock: Clock,
  ms: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  await clock.sleep(ms, signal);
  signal.throwIfAborted();
}

/** Waits; false if the signal ended the wait. */
export function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const end = (isOver: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      resolve(isOver);
    };
    const aborted = (): void => end(false);
    const timer = setTimeout(() => end(true), Math.min(ms, TIMER_MAX_MS));
    signal.addEventListener('abort', aborted, { once: true });
  });
}
