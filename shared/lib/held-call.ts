const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** A try that was held this long shows that the connection works between cuts. */
export const HELD_MS = 1_000;
/** How long an answer may come after its time, if the server is just restarting. */
const GRACE_MS = 10_000;

export interface HeldCall<T> {
  /** How long the other side is asked to hold its answer. */
  readonly seconds: number;
  /** The shortest that it can be asked for. */
  readonly leastSeconds: number;
  /** Makes one try, which the other side may hold for so many seconds. */
  readonly send: (seconds: number) => Promise<T>;
  /** Whether only the connection failed, so that the call may still be answered; `hasWorked`: a try was held, or cut before. */
  readonly isCut: (error: unknown, hasWorked: boolean) => boolean;
  /** Rejects when the caller no longer wants the answer. */
  readonly pause: (ms: number) => Promise<unknown>;
  /** Milliseconds; need not be the wall clock. */
  readonly now?: () => number;
}

/**
 * The answer to a call that the other side holds, even if proxies end silent requests: a cut call is asked again for
 * the rest of its time. A write needs one Idempotency-Key for all tries. Throws what `isCut` refuses, and the last cut
 * some seconds after the time is up.
 */
export async function heldCall<T>(call: HeldCall<T>): Promise<T> {
  const { send, isCut, pause, leastSeconds, now = () => performance.now() } = call;
  const dueAt = now() + call.seconds * 1000;
  let { seconds } = call;
  let failures = 0;
  for (let tries = 0; ; tries += 1) {
    const began = now();
    try {
      return await send(seconds);
    } catch (error) {
      const hasWorked = tries > 0 || now() - began >= HELD_MS;
      if (!isCut(error, hasWorked) || now() > dueAt + GRACE_MS) throw error;
    }
    failures = now() - began < HELD_MS ? failures + 1 : 0;
    await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures));
    const left = Math.ceil((dueAt - now()) / 1000);
    seconds = Math.min(call.seconds, Math.max(leastSeconds, left));
  }
}

/** The shortest that a call can be held, by the field that says how long: a question may be asked and not waited for. */
export function leastOf(field: string): number {
  return field === 'timeout_seconds' ? 1 : 0;
}
