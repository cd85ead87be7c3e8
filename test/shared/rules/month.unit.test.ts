import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { monthEnd, monthOf } from '../../../shared/rules/mail/month.ts';

describe('a calendar month in UTC', () => {
  it.each([
    ['2026-01-01T00:00:00.000Z', '2026-01', '2026-02-01T00:00:00.000Z'],
    ['2026-01-31T23:59:59.999Z', '2026-01', '2026-02-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2026-12', '2027-01-01T00:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', '2028-02', '2028-03-01T00:00:00.000Z'],
    ['2026-02-28T23:59:59.999Z', '2026-02', '2026-03-01T00:00:00.000Z'],
  ])('%s is in %s until %s', (time, month, end) => {
    expect(monthOf(Date.parse(time))).toBe(month);
    expect(new Date(monthEnd(Date.parse(time))).toISOString()).toBe(end);
  });

  it('ends where the next begins, and holds every time before that', () => {
    const times = fc.date({
      min: new Date('2000-01-01T00:00:00Z'),
      max: new Date('2999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    const property = fc.property(times, (date) => {
      const end = monthEnd(date.getTime());
      expect(end).toBeGreaterThan(date.getTime());
      expect(monthOf(end - 1)).toBe(monthOf(date.getTime()));
      expect(monthOf(end) > monthOf(end - 1)).toBe(true);
      expect(new Date(end).toISOString()).toMatch(/-01T00:00:00\.000Z$/);
    });
    fc.assert(property);
  });
});
