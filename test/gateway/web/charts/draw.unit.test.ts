import { describe, expect, it } from 'vitest';
import {
  barsPath,
  bytesScaleEnd,
  linePath,
  scaleEnd,
  timeScaleEnd,
} from '../../../../gateway/web/ui/charts/draw.ts';

const HOUR_MS = 3_600_000;

describe('bars', () => {
  it('stand on each other, and leave out what is zero or missing', () => {
    const first = barsPath([1, 0, null], [], 4);
    expect(first).toEqual({ path: 'M1 100v-25h8v25z', tops: [1, 0, 0] });
    const second = barsPath([2, 4, 0], first.tops, 4);
    expect(second).toEqual({ path: 'M1 75v-50h8v50zM11 100v-100h8v100z', tops: [3, 4, 0] });
  });
});

describe('a line', () => {
  it('ends at a gap, and is a dash where it has no neighbours', () => {
    expect(linePath([0, 2, null, 1, null], 2)).toBe('M5 100L15 0M30 50h10');
    expect(linePath([null, null], 2)).toBe('');
  });
});

describe('the end of a scale', () => {
  it.each([
    [0, 1],
    [1, 1],
    [5, 6],
    [7, 8],
    [11, 20],
    [190, 200],
    [99_001, 100_000],
  ])('of %d is %d', (max, end) => expect(scaleEnd(max)).toBe(end));

  it.each([
    [340, 400],
    [4500, 6000],
    [61_000, 120_000],
    [18 * HOUR_MS, 24 * HOUR_MS],
    [31 * 24 * HOUR_MS, 31 * 24 * HOUR_MS],
  ])('of %d ms is %d ms', (max, end) => expect(timeScaleEnd(max)).toBe(end));

  it.each([
    [0, 1],
    [1000, 1024],
    [100_000, 131_072],
  ])('of %d bytes is %d bytes', (max, end) => expect(bytesScaleEnd(max)).toBe(end));
});
