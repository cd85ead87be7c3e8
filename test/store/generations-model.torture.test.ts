import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CrashPoint } from '../../shared/store/log/generations.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { buildLogProgram } from './log-process.ts';
import { LogWorld, type Step } from './log-world.ts';

const CRASH_POINTS: readonly CrashPoint[] = [
  'rotate: log copied',
  'rotate: archive named',
  'rotate: log emptied',
  'rotate: log kept',
  'rotate: log set aside',
  'commit: not recorded',
  'commit: log begun in place',
  'commit: archive named',
  'state written',
  'base copied',
];

const steps = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('put'), times: fc.nat(20_000) }) },
    { weight: 4, arbitrary: fc.constant({ kind: 'rotate' } as const) },
    { weight: 3, arbitrary: fc.constant({ kind: 'sync' } as const) },
    { weight: 2, arbitrary: fc.constantFrom({ kind: 'enter' }, { kind: 'leave' }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('arm'), point: fc.constantFrom(...CRASH_POINTS) }),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ...(['remove', 'undo', 'copyBase', 'kill', 'close'] as const).map((kind) => ({ kind })),
      ),
    },
  ),
  { minLength: 40, maxLength: 40 },
);

const built = temporaryFolder();
let program = '';
beforeAll(() => {
  program = buildLogProgram(built.path);
});
afterAll(() => built.remove());

it('whatever happens to a followed log, a replica gets all of it or has to begin anew', async () => {
  const property = fc.asyncProperty(steps, async (taken) => {
    const world = new LogWorld(program);
    try {
      await world.begin();
      for (const step of taken) await world.take(step);
      await world.end();
      expect(world.comparisons).toBeGreaterThan(1);
    } finally {
      await world.remove();
    }
  });
  const seed = Number(process.env['SVC_TEST_SEED'] ?? 20_260_102);
  await fc.assert(property, { seed, numRuns: 4, endOnFailure: true });
});
