import { expect, it } from 'vitest';
import { Callers } from '../../../shared/admission/callers.ts';

it('a project that shows ever new cookies pushes out its own, not those of others', () => {
  const callers = new Callers();
  callers.remember('quiet', 'prj_a');
  for (let n = 0; n < 20_000; n += 1) callers.remember(`cookie ${n}`, 'prj_b');
  expect(callers.projectOf('quiet')).toBe('prj_a');
  expect([callers.projectOf('cookie 19999'), callers.projectOf('cookie 0')]).toEqual([
    'prj_b',
    null,
  ]);
});

it('of very many projects, those remembered first are forgotten', () => {
  const callers = new Callers();
  for (let n = 0; n < 20_000; n += 1) callers.remember(`key ${n}`, `prj_${n}`);
  expect([callers.projectOf('key 0'), callers.projectOf('key 19999')]).toEqual([null, 'prj_19999']);
});
