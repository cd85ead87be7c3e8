import { randomBytes } from 'node:crypto';
import { cpSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { flipBit } from '../../helpers/flipped.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { databaseOf, look, seed, SLUG, type Seeded } from './moving.ts';
import { operator } from './operator.ts';

const root = temporaryFolder();
const good = join(root.path, 'good');
const older = join(root.path, 'older');
let data: string;
let backup: string;
let project: Seeded;
let count = 0;

beforeAll(async () => {
  project = await seed(good);
  await operator(['backup', older, '--data', good]);
  // It goes on after the backup.
  await look(good, project);
});
afterAll(() => root.remove());
beforeEach(() => {
  count += 1;
  data = join(root.path, `data-${count}`);
  backup = join(root.path, `backup-${count}`);
  cpSync(good, data, { recursive: true, filter: (path) => !path.endsWith('.sock') });
});

interface Report {
  readonly code: number;
  readonly err: string;
  readonly [name: string]: unknown;
}

async function run(...args: string[]): Promise<Report> {
  const { code, out, err } = await operator([...args, '--data', data, '--json']);
  return { ...(out === '' ? {} : (JSON.parse(out) as object)), code, err };
}

const WHOLE = { isFileWhole: true, value: { n: 1 }, verified: { ok: true }, owned: [SLUG] };

it.each([
  ['is ruined', (control: string) => writeFileSync(control, randomBytes(8192))],
  ['has one flipped bit', (control: string) => void flipBit(control, 0.9)],
  ['is missing', (control: string) => rmSync(control)],
  ['is empty', (control: string) => writeFileSync(control, '')],
  ['has no tables', (control: string) => truncateSync(control, 4096)],
])('a backup takes the projects though the control database %s', async (_, damageIt) => {
  damageIt(join(data, 'control.db'));
  const damage = [{ file: 'control.db', what: 'database' }];
  const made = await run('backup', backup);
  expect(made).toMatchObject({ code: 1, blobs: 1, damage });
  expect(made.err).toContain('LACKS 1 damaged object');

  const key = join(data, 'master.key');
  data = join(root.path, `restored-${count}`);
  const env = { SVC_MASTER_KEY_FILE: key };
  const restored = await operator(['restore', backup, '--data', data], env);
  expect([restored.code, restored.err]).toEqual([0, expect.stringContaining('control.db')]);
  cpSync(key, join(data, 'master.key'));
  const lost = /control\.db is damaged: it's missing or empty, and there are projects/;
  await expect(TestGateway.start({ folder: data })).rejects.toThrow(lost);
  expect(await run('repair', '--from', backup)).toMatchObject({ code: 1, repaired: [] });
  const repaired = [{ file: 'control.db', from: older }];
  const done = await run('repair', '--from', older, '--yes');
  expect(done).toMatchObject({ code: 0, repaired, damage: [] });
  expect(await look(data, project)).toMatchObject(WHOLE);
});

it('a backup is not a success where only sums are damaged, which a repair has made anew', async () => {
  const sums = `${databaseOf('', project)}-sums`;
  flipBit(join(data, sums));
  expect(await run('check')).toMatchObject({ damage: [{ file: sums, what: 'its sums' }] });
  const made = await run('backup', backup);
  expect(made).toMatchObject({ code: 1, damage: [], blobs: 1 });
  expect(made.err).toContain('Damaged, but not needed in a backup: 1 file');
  expect(await run('repair')).toMatchObject({ code: 0, repaired: [{ file: sums, from: null }] });
  expect(await look(data, project)).toMatchObject(WHOLE);
  expect(await run('backup', `${backup}-again`)).toMatchObject({ code: 0 });
});

it('a backup names a key that is none instead of taking it along', async () => {
  writeFileSync(join(data, 'master.key'), 'nonsense');
  const damage = [{ file: 'master.key', what: 'master key' }];
  const made = await run('backup', backup, '--include-key');
  expect(made).toMatchObject({ code: 1, key_included: false, blobs: 1, damage });
});

it('an export refuses a project whose database is damaged', async () => {
  flipBit(databaseOf(data, project), 0.9);
  const { code, err } = await operator(['export', project.id, backup, '--data', data]);
  expect([code, err]).toEqual([1, expect.stringMatching(/project\.db is damaged: page \d+/)]);
});
