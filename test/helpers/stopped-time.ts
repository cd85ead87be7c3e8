import { onTestFinished, vi } from 'vitest';

/**
 * No time passes until the test ends. A writer ends a group after some milliseconds, so on a machine that rests for a
 * moment, what was asked for together would not share a commit.
 */
export function stopTime(): void {
  const stopped = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => stopped.mockRestore());
}
