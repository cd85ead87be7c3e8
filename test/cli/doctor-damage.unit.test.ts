import { expect, it } from 'vitest';
import type { Home } from '../../daemon/home.ts';
import { checkDamage } from '../../cli/doctor/checks.ts';

const HOME = { dataFolder: '/data' } as Home;
const damage = (name: string) => ({ project: null, file: name, what: 'blob', foundAt: 1 });

it('names what the daemon knows to be damaged, and what to do', () => {
  expect(checkDamage(HOME, null)).toEqual([]);
  expect(checkDamage(HOME, {})).toEqual([]);
  expect(checkDamage(HOME, { damage: ['a', 'b', 'c', 'd'].map(damage) })).toEqual([
    {
      check: 'data',
      status: 'error',
      detail: '4 objects damaged: a (blob), b (blob), c (blob), and 1 more',
      fix: 'For all of it, and what to do: svc gateway check --data /data',
    },
  ]);
});
