import { describe, expect, it } from 'vitest';
import { levelAfter } from '../../../gateway/projects/limits/disk-space.ts';

describe('the level of a disk with a reserve of 100', () => {
  it.each([
    ['ok', 100, 'ok'],
    ['ok', 99, 'low'],
    ['low', 100, 'low'],
    ['low', 124, 'low'],
    ['low', 125, 'ok'],
    ['ok', 24, 'full'],
    ['low', 25, 'low'],
    ['full', 25, 'full'],
    ['full', 31, 'full'],
    ['full', 32, 'low'],
    ['full', 124, 'low'],
    ['full', 125, 'ok'],
  ] as const)('after %s, with %i free, is %s', (before, free, level) => {
    expect(levelAfter(before, free, 100)).toBe(level);
  });

  it('is always ok if nothing is kept free', () => {
    expect(levelAfter('ok', 0, 0)).toBe('ok');
  });
});
