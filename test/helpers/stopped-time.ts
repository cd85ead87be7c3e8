import { onTestFinished, vi } from 'vitest';

/**
 * Stops time until the test ends. A writer closes a group after some milliseconds, so on a slow machine, writes made
 * together might not share a commit.
 */
export function stopTime(): void {
  const stopped = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => stopped.mockRestore());
}
