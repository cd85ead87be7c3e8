import { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import { failedForNow, type SvcError } from './errors.ts';

/** Someone waits for the answer, so pauses don't grow as long as a worker's. */
const LONGEST_PAUSE_MS = 10_000;

interface Retrying {
  /** Ends it: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Whether to give up at this failure, before which there were `tries` others. */
  readonly isLast: (failure: SvcError, tries: number) => boolean;
  /** The longest that a pause may be now. */
  readonly leftMs?: () => number;
  /** The failure of a try that was made before. */
  readonly after?: SvcError;
  readonly clock?: Clock | undefined;
}

const NEVER = new AbortController().signal;

/** Repeats work that failed only for now: after the pause the server asked for, or longer each time. */
export async function retried<T>(
  work: () => Promise<T>,
  { signal = NEVER, isLast, leftMs, after, clock }: Retrying,
): Promise<T> {
  const backoff = new Backoff(LONGEST_PAUSE_MS, clock);
  const pause = async (failure: SvcError): Promise<void> => {
    if (isLast(failure, backoff.failures)) throw failure;
    await backoff.pause(failure, signal, leftMs?.());
    signal.throwIfAborted();
  };
  if (after) await pause(after);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!failedForNow(error)) throw error;
      await pause(error);
    }
  }
}
