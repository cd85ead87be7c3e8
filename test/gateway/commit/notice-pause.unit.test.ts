import { describe, expect, it } from 'vitest';
import { noticePause } from '../../../gateway/commit/commands/people/notice-pause.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('noticePause', () => {
  it.each([
    [1, 15_000],
    [2, 30_000],
    [3, MINUTE],
    [8, 32 * MINUTE],
    [9, HOUR],
    [31, HOUR],
  ])('after %i attempts is %i', (attempts, pause) => {
    expect(noticePause(attempts, null)).toBe(pause);
  });

  it('ends with the 32nd attempt, whatever is asked for', () => {
    expect(noticePause(32, null)).toBeNull();
    expect(noticePause(32, 5)).toBeNull();
    expect(noticePause(1000, null)).toBeNull();
  });

  it('is as long as asked for, if that is longer, and never longer than an hour', () => {
    expect(noticePause(1, 100)).toBe(100_000);
    expect(noticePause(1, 1)).toBe(15_000);
    expect(noticePause(1, 0)).toBe(15_000);
    expect(noticePause(9, 5)).toBe(HOUR);
    expect(noticePause(1, 1e9)).toBe(HOUR);
    expect(noticePause(1, Number.POSITIVE_INFINITY)).toBe(HOUR);
  });

  it('adds up to about a day', () => {
    let sum = 0;
    for (let attempts = 1; attempts < 32; attempts += 1) sum += noticePause(attempts, null) ?? 0;
    expect(sum).toBeGreaterThan(23 * HOUR);
    expect(sum).toBeLessThan(25 * HOUR);
  });
});
