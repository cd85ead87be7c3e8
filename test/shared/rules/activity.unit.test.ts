import { describe, expect, it } from 'vitest';
import { ActivityTally, binOf, percentileOf } from '../../../shared/rules/activity.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const MINUTE_MS = 60_000;

function bins(...durations: number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const ms of durations) counts.set(binOf(ms), (counts.get(binOf(ms)) ?? 0) + 1);
  return counts;
}

describe('a tally', () => {
  it('adds up counts, and keeps the last value of a gauge, for each length of a step', () => {
    const tally = new ActivityTally();
    tally.add(AT, 'received', 'shop');
    tally.add(AT + 1, 'received', 'shop', 2);
    tally.add(AT + MINUTE_MS, 'received', 'shop');
    tally.add(AT, 'disk', '', 10);
    tally.add(AT + MINUTE_MS, 'disk', '', 4);
    const cells = tally
      .cells()
      .map(({ stepMs, kind, value }) => `${stepMs / MINUTE_MS} min: ${kind} ${value}`);
    expect(cells).toEqual([
      '1 min: received 3',
      '1 min: received 1',
      '1 min: disk 10',
      '1 min: disk 4',
      '15 min: received 4',
      '15 min: disk 4',
      '120 min: received 4',
      '120 min: disk 4',
      '480 min: received 4',
      '480 min: disk 4',
    ]);
  });
});

describe('a percentile of durations in bins', () => {
  it.each([1, 7, 340, 5000, 86_400_000])('is within a tenth of the only one: %d ms', (ms) => {
    const found = percentileOf(bins(ms), 0.95) ?? 0;
    expect(Math.abs(found - ms) / ms).toBeLessThan(0.1);
  });

  it('is the one that so many do not exceed', () => {
    const hundred = bins(...Array<number>(95).fill(100), ...Array<number>(5).fill(9000));
    expect(percentileOf(hundred, 0.5)).toBeCloseTo(2 ** (binOf(100) / 4));
    expect(percentileOf(hundred, 0.95)).toBeCloseTo(2 ** (binOf(100) / 4));
    expect(percentileOf(hundred, 0.96)).toBeCloseTo(2 ** (binOf(9000) / 4));
    expect(percentileOf(new Map(), 0.5)).toBeNull();
  });

  it('takes what took no time as a millisecond', () => {
    expect(percentileOf(bins(-5), 0.5)).toBe(1);
  });
});
