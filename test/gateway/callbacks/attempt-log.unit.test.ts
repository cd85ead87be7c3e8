import { describe, expect, it, vi } from 'vitest';
import { AttemptLog } from '../../../gateway/callbacks/attempt-log.ts';
import type { Attempt } from '../../../gateway/commit/commands/inbox/push.ts';
import type { ProjectWrites } from '../../../gateway/commit/thread/writers.ts';

const attempt = (n: number): Attempt => ({
  deliveryId: `dlv_${n}`,
  startedAt: 0,
  endedAt: 1,
  outcome: { kind: 'failed', reason: 'No.', guard: false, durationMs: 1 },
  jitter: 0,
});

/** A writing side that refuses the first so many jobs. */
function writing(refusals: number) {
  const jobs: number[] = [];
  const written: string[] = [];
  let left = refusals;
  const writes = {
    run: async (_name: string, attempts: readonly Attempt[]) => {
      jobs.push(attempts.length);
      await new Promise((resolve) => setTimeout(resolve, 1));
      left -= 1;
      if (left >= 0) throw new Error('The disk is full.');
      written.push(...attempts.map(({ deliveryId }) => deliveryId));
      return null;
    },
  } as unknown as ProjectWrites;
  const errors: unknown[] = [];
  return { log: new AttemptLog(writes, (error) => errors.push(error)), jobs, written, errors };
}

describe('the log of attempts', () => {
  it('writes what ends together in few jobs, each attempt once', async () => {
    const { log, jobs, written } = writing(0);
    await Promise.all(Array.from({ length: 300 }, (_, n) => log.add(attempt(n))));
    expect(new Set(written).size).toBe(300);
    expect(written).toHaveLength(300);
    expect(jobs.length).toBeLessThanOrEqual(13);
    expect(Math.max(...jobs)).toBe(32);
  });

  it('tries again until it is written, and says so only then', async () => {
    const { log, written, errors } = writing(1);
    const adding = log.add(attempt(1));
    await expect.poll(() => errors.length, { interval: 1 }).toBe(1);
    expect(written).toEqual([]);
    await adding;
    expect(written).toEqual(['dlv_1']);
    expect(errors).toHaveLength(1);
  });

  it('ends with one more try, however full the disk is', async () => {
    const { log, errors } = writing(1000);
    const adding = log.add(attempt(1));
    await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 60_000 });
    await log.close();
    await adding;
    expect(errors).toHaveLength(2);
  });
});
