import { expect, it } from 'vitest';
import { spendPushTest } from '../../../../gateway/lib/push/test-budget.ts';

const MINUTE = 60_000;

/** Sends this many at once; how long each has to wait. */
function sendAt(now: number, fullAt: number, count: number): { waits: number[]; fullAt: number } {
  const waits: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const spent = spendPushTest(fullAt, now);
    waits.push(spent.waitMs);
    ({ fullAt } = spent);
  }
  return { waits, fullAt };
}

it('lets five tests go at once, then one every two minutes', () => {
  const first = sendAt(1_000_000, 0, 7);
  expect(first.waits).toEqual([0, 0, 0, 0, 0, 2 * MINUTE, 2 * MINUTE]);
  const next = sendAt(1_000_000 + 3 * MINUTE, first.fullAt, 2);
  expect(next.waits).toEqual([0, MINUTE]);
  expect(sendAt(1_000_000 + 20 * MINUTE, next.fullAt, 5).waits).toEqual([0, 0, 0, 0, 0]);
});

it('keeps nobody waiting for long when the clock went back', () => {
  const { fullAt } = sendAt(90_000_000, 0, 5);
  expect(sendAt(1_000_000, fullAt, 1).waits).toEqual([2 * MINUTE]);
});
