import { describe, expect, it } from 'vitest';
import { digitsOf } from '../../../../gateway/web/ui/number.ts';
import { lengthOfTime, timeOfDay } from '../../../../gateway/web/ui/time.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a length of time', () => {
  it.each([
    [-5, '0 s'],
    [999, '0 s'],
    [45 * SECOND, '45 s'],
    [MINUTE - 1, '59 s'],
    [MINUTE, '1 min'],
    [HOUR - 1, '59 min'],
    [3 * HOUR, '3 h'],
    [3 * HOUR + 10 * MINUTE, '3 h 10 min'],
    [DAY - 1, '23 h 59 min'],
    [2 * DAY + 4 * HOUR + 59 * MINUTE, '2 d 4 h'],
    [7 * DAY, '7 d'],
  ])('%d ms is %s', (ms, text) => {
    expect(lengthOfTime(ms)).toBe(text);
  });
});

describe('a moment', () => {
  it.each([
    ['2026-01-02T14:30:59.999Z', '14:30:59 UTC'],
    ['2026-01-03T00:00:00.000Z', '00:00:00 UTC on 3 January'],
    ['2025-12-31T23:59:00.000Z', '23:59:00 UTC on 31 December 2025'],
  ])('%s is %s', (at, text) => {
    expect(timeOfDay(Date.parse(at), Date.parse('2026-01-02T11:30:00.000Z'))).toBe(text);
  });
});

describe('an amount', () => {
  it.each([
    [0, '0'],
    [-0, '0'],
    [129.5, '129.5'],
    [999, '999'],
    [1000, '1 000'],
    [1_250_000.75, '1 250 000.75'],
    [-12_500, '−12 500'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1e-7, '0.0000001'],
    [1e21, '1 000 000 000 000 000 000 000'],
  ])('%d is %s', (amount, text) => {
    expect(digitsOf(amount).replaceAll('\u202f', ' ')).toBe(text);
  });
});
