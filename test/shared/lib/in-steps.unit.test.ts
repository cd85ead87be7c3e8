import { expect, it } from 'vitest';
import { inSteps } from '../../../shared/lib/in-steps.ts';

it('a document that takes long to make leaves others a turn after each step', async () => {
  let made = 0;
  const seen: number[] = [];
  function* making(): Generator<void, string> {
    for (; made < 3; made += 1) yield;
    return 'made';
  }
  const watch = (): void => {
    seen.push(made);
    if (made < 3) setImmediate(watch);
  };
  setImmediate(watch);
  expect(await inSteps(making())).toBe('made');
  expect(seen).toEqual(expect.arrayContaining([1, 2]));
});
