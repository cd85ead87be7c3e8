import { describe, expect, it } from 'vitest';
import { dayOf, limitPassed, monthDays } from '../../../shared/rules/mail/send-limit.ts';

const HOUR = 3600;
const at = (iso: string): number => Date.parse(iso);

describe('the limits of sending', () => {
  const now = at('2026-01-30T20:00:00.000Z');

  it.each([
    [{ today: 0, thisMonth: 0 }, 50, null],
    [{ today: 49, thisMonth: 49 }, 1, null],
    [{ today: 0, thisMonth: 0 }, 51, 'day'],
    [{ today: 50, thisMonth: 50 }, 1, 'day'],
    [{ today: 0, thisMonth: 999 }, 1, null],
    [{ today: 0, thisMonth: 999 }, 2, 'month'],
    // Both are full: the longer wait is what counts.
    [{ today: 50, thisMonth: 1000 }, 1, 'month'],
  ])('%j and %i more', (use, more, window) => {
    expect(limitPassed(use, more, now)?.window ?? null).toBe(window);
  });

  it('say how long they hold', () => {
    expect(limitPassed({ today: 50, thisMonth: 70 }, 1, now)).toEqual({
      window: 'day',
      limit: 50,
      used: 50,
      of: 'project',
      retry_after: 4 * HOUR,
    });
    expect(limitPassed({ today: 3, thisMonth: 1000 }, 1, now)).toEqual({
      window: 'month',
      limit: 1000,
      used: 1000,
      of: 'project',
      retry_after: 28 * HOUR,
    });
    expect(limitPassed({ today: 50, thisMonth: 50 }, 1, now + 4 * HOUR * 1000 - 1)).toMatchObject({
      retry_after: 1,
    });
    expect(limitPassed({ today: 50, thisMonth: 50 }, 1, now + 4 * HOUR * 1000)).toMatchObject({
      retry_after: 24 * HOUR,
    });
  });

  it('go by the days and months of UTC', () => {
    expect(dayOf(at('2026-01-31T23:59:59.999Z'))).toBe('2026-01-31');
    expect(dayOf(at('2026-02-01T00:00:00.000Z'))).toBe('2026-02-01');
    const { first, last } = monthDays(at('2028-02-29T12:00:00.000Z'));
    for (const day of ['2028-02-01', '2028-02-29']) {
      expect(day >= first && day <= last).toBe(true);
    }
    for (const day of ['2028-01-31', '2028-03-01']) {
      expect(day >= first && day <= last).toBe(false);
    }
  });
});
