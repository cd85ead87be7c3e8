import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/**
 * Until the test ends, timers and `performance.now` in this process run `factor` times as fast. For intervals of the
 * product that a test would only sit out; the wall clock doesn't change, and neither does `AbortSignal.timeout`, which ends
 * calls that are only slow on a busy machine.
 */
export function hurryTime(factor = 20): void {
  const { setTimeout, setInterval } = globalThis;
  const { setTimeout: sleep } = promises;
  const now = performance.now.bind(performance);
  const began = now();
  const sooner = (ms = 0): number => ms / factor;
  const hurried = <F extends typeof setTimeout | typeof setInterval>(real: F): F =>
    Object.assign(
      (work: () => void, ms?: number, ...rest: []) => real(work, sooner(ms), ...rest),
      real,
    );

  globalThis.setTimeout = hurried(setTimeout);
  globalThis.setInterval = hurried(setInterval);
  promises.setTimeout = (ms, ...rest) => sleep(sooner(ms), ...rest);
  performance.now = () => began + (now() - began) * factor;
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(globalThis, { setTimeout, setInterval });
    promises.setTimeout = sleep;
    performance.now = now;
    syncBuiltinESMExports();
  });
}
