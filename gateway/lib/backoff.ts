import { setTimeout as sleep } from 'node:timers/promises';

/** Tried again after about so long; there for tests. */
export interface Pauses {
  readonly firstMs: number;
  readonly maxMs: number;
}

export const PAUSES: Pauses = { firstMs: 1000, maxMs: 60_000 };

/**
 * How long to wait after so many failures in a row: doubled each time, with up to half of it left to chance, so that those who
 * failed together do not come back together.
 */
export function backoffMs(
  failures: number,
  { firstMs, maxMs }: Pauses,
  chance = Math.random(),
): number {
  const whole = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole * (0.5 + chance / 2));
}

/** Returns early, and without a fuss, when it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
