import { setTimeout as sleep } from 'node:timers/promises';

/** The pause between two checks of the other side. */
const LOOK_MS = 200;

export interface BesideOptions<T> {
  /** Sends it. `isAgain`: over a new connection. The signal ends it as soon as one of them is answered. */
  readonly send: (isAgain: boolean, signal: AbortSignal) => Promise<T>;
  /**
   * Resolves to true once the other side answers over new connections, so that it's worthwhile to send again; to false
   * if it can't be reached now.
   */
  readonly isThere: (signal: AbortSignal) => Promise<boolean>;
  /** How long it may take before it's sent again, in milliseconds; twice as long before the next time, and so on. */
  readonly aloneMs: number;
}

/**
 * The first answer to something that has one effect however often it arrives. A connection may be dead and not show it,
 * so what stays unanswered is sent again beside it. Rejects with an `AggregateError` of all failures once none is left
 * that could be answered.
 */
export function beside<T>({ send, isThere, aloneMs }: BesideOptions<T>): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const failures: unknown[] = [];
  let open = 0;
  return new Promise<T>((resolve, reject) => {
    const start = async (isAgain: boolean): Promise<void> => {
      open += 1;
      try {
        resolve(await send(isAgain, signal));
      } catch (error) {
        failures.push(error);
        open -= 1;
        if (open > 0) return;
        reject(new AggregateError(failures));
      }
      over.abort();
    };
    const again = async (): Promise<void> => {
      for (let waitMs = aloneMs; ; waitMs *= 2) {
        await sleep(waitMs, undefined, { signal });
        while (!(await isThere(signal))) await sleep(LOOK_MS, undefined, { signal });
        if (signal.aborted) return;
        void start(true);
      }
    };
    void start(false);
    // The signal ends it.
    again().catch(() => undefined);
  });
}
