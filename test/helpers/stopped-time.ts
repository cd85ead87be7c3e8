import { onTestFinished, vi } from 'vitest';

/**
 * Stops time until the test ends. A writer closes a group after some milliseconds, so on a slow machine, writes made
 * together might not share a commit. Time goes on by what is told to `pass`, in milliseconds.
 */
export function stopTime(): { pass(ms: number): void } {
  let now = performance.now();
  const stopped = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => stopped.mockRestore());
  return { pass: (ms) => void (now += ms) };
}
