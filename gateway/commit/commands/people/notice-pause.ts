const FIRST_MS = 15_000;
const LONGEST_MS = 3_600_000;
/** With pauses that double up to an hour, this covers about a day. */
const ATTEMPTS_MAX = 32;

/**
 * Returns how many milliseconds to wait before the next try of a notification to a person, after `attempts` tries.
 * The pause doubles, respects the other side's request, and never exceeds an hour. Null after the last try.
 */
export function noticePause(attempts: number, retryAfterSeconds: number | null): number | null {
  if (attempts >= ATTEMPTS_MAX) return null;
  const ownMs = Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 16), LONGEST_MS);
  return Math.min(Math.max(ownMs, (retryAfterSeconds ?? 0) * 1000), LONGEST_MS);
}
