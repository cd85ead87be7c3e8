import { expect, it } from 'vitest';
import { Rest } from '../../../daemon/replica/serve/rest.ts';

it('a replica rests longer, the more commits there are and the busier the machine is', () => {
  const rest = new Rest();
  expect(rest.after(3, false)).toBe(15);
  expect([1, 2, 3].map(() => rest.after(3, true))).toEqual([30, 60, 60]);
  expect(rest.after(40, true)).toBe(120);
  expect(rest.after(5000, true)).toBe(250);
  expect(rest.after(3, false)).toBe(15);
});
