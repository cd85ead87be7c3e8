const FIRST_MS = 15_000;
const LONGEST_MS = 3_600_000;
/** With pauses that double up to an hour these are about a day. */
const ATTEMPTS_MAX = 32;

/**
 * How long to wait before a notification to a person is tried again after so many attempts: longer each time, and as long as the
 * other side asked for, up to an hour. Null when it has been tried often enough.
 */
export function noticePause(attempts: number, retryAfterSeconds: number | null): number | null {
  if (attempts >= ATTEMPTS_MAX) return null;
  const ownMs = Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 16), LONGEST_MS);
  return Math.min(Math.max(ownMs, (retryAfterSeconds ?? 0) * 1000), LONGEST_MS);
}
