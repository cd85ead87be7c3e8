import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { Disk } from './power-cut/disk.ts';
import { sha256 } from './power-cut/driver.ts';
import type { Fact, Mark } from './power-cut/facts.ts';
import { writeImage } from './power-cut/image.ts';
import { Random } from './power-cut/random.ts';
import { recordScenario } from './power-cut/record.ts';
import { chooseSeed } from './power-cut/seed.ts';
import {
  compileShim,
  readLog,
  shimEnvironment,
  shimReady,
  type Faults,
  type LogRecord,
} from './power-cut/shim.ts';
import { trial } from './power-cut/trial.ts';

/** Of each kind; the long run takes all. */
const SYNCS = 3;
/** As many as there are at least, from the first start on. */
const SYNCS_MIN = 80;
const WRITES_MIN = 600;

const ready = shimReady();
const folder = temporaryFolder();
const random = new Random(ready ? chooseSeed() : 0);
let library = '';
/** Of a run in which nothing fails. */
let records: readonly LogRecord[] = [];

beforeAll(async () => {
  if (!ready) return;
  library = compileShim(folder.path);
  ({ records } = await recordScenario({ folder: fresh('scenario'), library }));
});
afterAll(() => folder.remove());

function fresh(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  return path;
}

function withFault(fail: string) {
  return trial(fresh(fail.replaceAll(':', '-')), { library, faults: { fail }, rotates: false });
}

/** The number of the last sync, or write, before something is acknowledged. */
function numberOf(op: 'S' | 'W', fact: Partial<Fact>): number {
  const isIt = (text: string): boolean => {
    const { phase, fact: found } = JSON.parse(text) as Mark;
    return (
      phase === 'done' &&
      Object.entries(fact).every(([name, value]) => found[name as keyof Fact] === value)
    );
  };
  const done = records.findIndex((one) => one.op === 'A' && isIt(one.data.toString('utf8')));
  const before = records.slice(0, done).filter((one) => one.op === op);
  return op === 'S' ? (before.at(-1)?.offset ?? 0) : before.length;
}

describe.skipIf(!ready)('a disk that fails a sync', () => {
  it('costs that group a 503 and the process its life, and the next one has all that was acknowledged', async () => {
    const found = await withFault(`sync:${numberOf('S', { kind: 'kv', name: 'color' })}:EIO`);
    expect(found).toMatchObject({ isReached: true, died: 1, problems: [] });
    expect(new Set(found.refused)).toEqual(new Set([503]));
  });

  it('may have taken it all the same: what was to follow follows after the restart', async () => {
    const found = await withFault(
      `sync:${numberOf('S', { kind: 'request', value: 'pending' })}:EIO`,
    );
    expect(found).toMatchObject({ isReached: true, died: 1, problems: [] });
  });

  it('is never taken for one that did not', async () => {
    for (let count = 0; count < SYNCS; count += 1) {
      const fail = `sync:${1 + random.below(SYNCS_MIN)}:EIO`;
      const { isReached, refused, problems } = await withFault(fail);
      expect({ fail, isReached, problems }).toEqual({ fail, isReached: true, problems: [] });
      expect(refused.filter((status) => status !== 503)).toEqual([]);
    }
  });
});

describe.skipIf(!ready)('a write', () => {
  it('that finds the disk full once the bytes of an upload are there is refused, and the same again is taken', async () => {
    const fail = `write:${numberOf('W', { kind: 'file', name: 'video' })}:ENOSPC`;
    const found = await withFault(fail);
    expect(found).toMatchObject({ isReached: true, refused: [503], problems: [] });
    expect(found.died).toBeUndefined();
  });

  it.each(['write:N:EIO', 'write:N:ENOSPC', 'short:N'])(
    'that does not go through is made good: %s',
    async (form) => {
      const fail = form.replace('N', String(1 + random.below(WRITES_MIN)));
      const { isReached, refused, problems } = await withFault(fail);
      expect({ fail, isReached, problems }).toEqual({ fail, isReached: true, problems: [] });
      expect(refused.filter((status) => status !== 503)).toEqual([]);
    },
  );
});

describe.skipIf(!ready)('a blob that a process left behind without syncing it', () => {
  const bytes = Buffer.alloc(300_000, 'blob');
  const digest = sha256(bytes);

  /** Stores it twice; returns both outcomes and the folder after a power cut. */
  function putTwice(name: string, faults: Faults): { outcomes: string[]; image: string } {
    const blobs = join(fresh(name), 'blobs');
    mkdirSync(blobs);
    const disk = new Disk(blobs);
    // Then a process that died left an unsynced write.
    const log = join(folder.path, `${name}.records`);
    const shim = (given: Faults) => shimEnvironment(library, { folder: blobs, log }, given);
    const run = (code: string, given: Faults): string =>
      execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] ?? '', ...shim(given) },
      });
    const path = join(blobs, digest.slice(0, 2), digest);
    run(
      `import fs from 'node:fs'; fs.mkdirSync(${JSON.stringify(join(blobs, digest.slice(0, 2)))});
       fs.writeFileSync(${JSON.stringify(path)}, Buffer.alloc(300000, 'blob'));`,
      {},
    );
    const store = JSON.stringify(resolve('gateway/blobs/blob-store.ts'));
    const out = run(
      `const { FileBlobStore } = await import(${store});
       const blobs = new FileBlobStore(${JSON.stringify(blobs)});
       for (let n = 0; n < 2; n += 1) {
         await blobs.put(Buffer.alloc(300000, 'blob')).then(() => console.log('stored'), () => console.log('refused'));
       }`,
      faults,
    );
    for (const record of readLog(log)) disk.apply(record);
    const image = join(folder.path, `${name}.image`);
    writeImage(disk, image, 'nothing', random);
    return { outcomes: out.trim().split('\n'), image: join(image, digest.slice(0, 2), digest) };
  }

  it.each([1, 2, 3, 4, 5, 6])('is durable once it is stored, whichever sync fails: %i', (n) => {
    const { outcomes, image } = putTwice(`put-${n}`, { fail: `sync:${n}:EIO` });
    expect(outcomes).toContain('stored');
    expect(existsSync(image) && sha256(readFileSync(image)) === digest).toBe(true);
  });
});
