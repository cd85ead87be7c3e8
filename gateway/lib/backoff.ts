import { setTimeout as sleep } from 'node:timers/promises';

/** The first and the longest pause between tries; tests pass their own. */
export interface Pauses {
  readonly firstMs: number;
  readonly maxMs: number;
}

export const PAUSES: Pauses = { firstMs: 1000, maxMs: 60_000 };

/**
 * Returns the pause in milliseconds after that many failures in a row. It doubles each time, and up to half of it is
 * random, so that clients that failed together don't return together.
 */
export function backoffMs(
  failures: number,
  { firstMs, maxMs }: Pauses,
  chance = Math.random(),
): number {
  const whole = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole * (0.5 + chance / 2));
}

/** Returns early, without an error, if `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
