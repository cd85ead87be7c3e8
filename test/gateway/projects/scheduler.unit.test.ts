import { describe, expect, it } from 'vitest';
import { Scheduler } from '../../../gateway/projects/scheduler.ts';
import { FakeClock } from '../../helpers/gateway.ts';

const HOUR_MS = 3_600_000;

describe('the scheduler', () => {
  it('does not fill up with entries that were overtaken', async () => {
    const clock = new FakeClock();
    const ran: string[] = [];
    const scheduler = new Scheduler(clock, (projectId) => ran.push(projectId));
    scheduler.atLatest('other', clock.now() + 2 * HOUR_MS);
    for (let n = 0; n < 5000; n += 1) {
      scheduler.atLatest('busy', clock.now() + HOUR_MS - n);
      expect(scheduler.size).toBeLessThanOrEqual(2 * 2 + 64);
    }
    clock.advance(HOUR_MS - 4999);
    scheduler.atLatest('now', clock.now());
    await expect.poll(() => ran, { interval: 5 }).toHaveLength(2);
    expect(ran.toSorted()).toEqual(['busy', 'now']);
    clock.advance(HOUR_MS + 5000);
    scheduler.atLatest('now', clock.now());
    await expect.poll(() => ran, { interval: 5 }).toContain('other');
    scheduler.close();
    expect(ran.filter((id) => id === 'busy')).toHaveLength(1);
  });
});
