import { describe, expect, it } from 'vitest';
import { growsInProportion } from './growth.ts';

/** As many steps as that, which the processor can't leave out. */
function steps(count: number): number {
  let sum = 0;
  for (let n = 0; n < count; n += 1) sum = (sum * 31 + n) % 1_000_003;
  return sum;
}

describe('work', () => {
  it.each([
    ['of as many steps as its length', (length: number) => steps(length * 1000), true],
    ['that looks at each pair', (length: number) => steps(length * length), false],
  ])('%s grows in proportion or not: %#', (_what, work, expected) => {
    expect(growsInProportion((length) => expect(work(length)).toBeGreaterThan(0), 12_000)).toBe(
      expected,
    );
  });
});
