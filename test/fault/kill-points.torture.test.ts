import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { cutsAtEach } from './power-cut/cuts.ts';
import { Random } from './power-cut/random.ts';
import { recordScenario } from './power-cut/record.ts';
import { replay } from './power-cut/recording.ts';
import { chooseSeed } from './power-cut/seed.ts';
import { compileShim, shimReady } from './power-cut/shim.ts';
import { trial } from './power-cut/trial.ts';

/** About how many of the points to try; the long run tries all. */
const POINTS = 20;
const KILLS = 3;
/** As many changes and syncs as there are at least, from the first start on. */
const CHANGES_MIN = 850;

const ready = shimReady();
const folder = temporaryFolder();
const random = new Random(ready ? chooseSeed() : 0);
let library = '';

beforeAll(() => {
  if (!ready) return;
  library = compileShim(folder.path);
});
afterAll(() => folder.remove());

function fresh(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  return path;
}

describe.skipIf(!ready)('a kill at any point of all there is to do', () => {
  it('leaves a disk with everything that was acknowledged, and nothing halfway', async () => {
    const here = fresh('scenario');
    const recorded = await recordScenario({ folder: here, library });
    const { records } = recorded;
    // The log was folded in on the way.
    expect(records.some(({ op, offset }) => op === 'T' && offset === 0)).toBe(true);
    const stride = Math.ceil(records.length / POINTS);
    const cuts = cutsAtEach(records, 'everything', { stride, random });
    const outcome = await replay(recorded, cuts, { folder: here, random });
    expect(outcome.findings).toEqual([]);
    expect(outcome.images).toBeGreaterThanOrEqual(POINTS - 1);
  });

  it.each(Array.from({ length: KILLS }, () => 1 + random.below(CHANGES_MIN)))(
    'is made good by the next start, and what was cut short has one effect when it is asked again: %i',
    async (killAt) => {
      const options = { library, faults: { killAt }, rotates: false };
      const found = await trial(fresh(`kill-${killAt}`), options);
      expect(found).toMatchObject({ isReached: true, died: null, problems: [] });
    },
  );
});
