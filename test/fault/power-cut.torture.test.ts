import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesUnder } from '../helpers/files.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { cutsAtEach, someCuts } from './power-cut/cuts.ts';
import { writeImage } from './power-cut/image.ts';
import { Random } from './power-cut/random.ts';
import { recordLoad, recordMigration } from './power-cut/record.ts';
import { replay, type Recording } from './power-cut/recording.ts';
import { chooseSeed } from './power-cut/seed.ts';
import { compileShim, shimReady } from './power-cut/shim.ts';

const IMAGES = 20;
const LOAD_SECONDS = 2;
/** What no log has of a folder: see `shim.c`. */
const UNLOGGED = ['-shm', '.log', '.sock', '.lock'];

const ready = shimReady();
const folder = temporaryFolder();
const random = new Random(ready ? chooseSeed() : 0);
let library = '';

beforeAll(() => {
  if (!ready) return;
  library = compileShim(folder.path);
});
afterAll(() => folder.remove());

function place(name: string): { folder: string; library: string } {
  const path = join(folder.path, name);
  mkdirSync(path);
  return { folder: path, library };
}

/** The bytes of all files below a folder, by their paths in it. */
function contents(path: string): Map<string, string> {
  const files = filesUnder(path).filter(
    (file) => statSync(file).isFile() && !UNLOGGED.some((end) => file.endsWith(end)),
  );
  return new Map(files.map((file) => [file.slice(path.length), readFileSync(file, 'latin1')]));
}

describe.skipIf(!ready)('a power cut under load', () => {
  let recording: Recording;

  it(`loses nothing that was acknowledged and damages nothing, ${IMAGES} times`, async () => {
    const here = place('load');
    const recorded = await recordLoad(here, { seconds: LOAD_SECONDS });
    recording = recorded;
    expect(recorded.wrong).toEqual([]);
    const cuts = someCuts(recorded.records, IMAGES, random);
    const outcome = await replay(recorded, cuts, { folder: here.folder, random });
    expect(outcome.findings).toEqual([]);
    expect(outcome.acknowledged).toBeGreaterThan(IMAGES);
  });

  it('is cut out of a log that has all the daemon did to its disk', async () => {
    const { disk, records } = recording;
    for (const record of records.slice(disk.applied)) disk.apply(record);
    const image = join(folder.path, 'whole');
    writeImage(disk, image, 'everything', random);
    const found = contents(join(folder.path, 'load', 'home'));
    expect(found.size).toBeGreaterThan(10);
    const whole = contents(image);
    expect([...whole.keys()].toSorted()).toEqual([...found.keys()].toSorted());
    const differing = [...found].filter(([path, bytes]) => whole.get(path) !== bytes);
    expect(differing.map(([path]) => path)).toEqual([]);
  });

  it.each(['all', 'log'] as const)(
    'would be seen to lose what was acknowledged, were %s not synced',
    async (lies) => {
      const here = place(`lies-${lies}`);
      const recorded = await recordLoad(here, { seconds: 1, faults: { lies } });
      const at = recorded.records.length;
      const cuts = [{ at, luck: 'nothing' as const }];
      const { findings } = await replay(recorded, cuts, { folder: here.folder, random });
      expect(findings.flatMap(({ problems }) => problems).join('\n')).toMatch(/^(lost|damaged): /m);
    },
  );
});

describe.skipIf(!ready)(
  'a power cut while a database of an early release is brought up to date',
  () => {
    it('leaves the old database or the new one, with all that is in it', async () => {
      const here = place('migration');
      const recorded = await recordMigration(here);
      const cuts = (['everything', 'nothing', 'mixed'] as const).flatMap((luck) =>
        cutsAtEach(recorded.records, luck, { stride: 60, random }),
      );
      const outcome = await replay(recorded, cuts, { folder: here.folder, random });
      expect(outcome.findings).toEqual([]);
      expect(outcome.images).toBeGreaterThan(9);
    });
  },
);
