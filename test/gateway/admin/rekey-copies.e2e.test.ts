import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '../../../gateway/admin/backup/backup.ts';
import { exportProject } from '../../../gateway/admin/move/export.ts';
import { readAdminSettings } from '../../../gateway/admin/settings.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { seed, SLUG } from './moving.ts';
import { operator } from './operator.ts';

const root = temporaryFolder();
const before = join(root.path, 'before');
const CHANGED = 'changed during the copy';

beforeAll(async () => {
  await seed(before);
});
afterAll(() => root.remove());

interface Copy {
  readonly data: string;
  readonly newKey: string;
  /** Of the backup or export. */
  readonly folder: string;
}

function copyOf(name: string): Copy {
  const data = join(root.path, name);
  cpSync(before, data, { recursive: true });
  return { data, newKey: join(root.path, `${name}.key`), folder: join(root.path, `${name}-copy`) };
}

/** Changes the master key meanwhile: all of it, or until it is killed when the first database was done. */
function rekeyNow({ data, newKey }: Copy, how: 'whole' | 'killed'): void {
  const program =
    how === 'whole'
      ? ['gateway/admin/main.ts', 'rekey', '--new-key', newKey, '--data', data]
      : ['test/gateway/admin/rekey-dying-program.ts', data, newKey, '4'];
  const { status, signal } = spawnSync(process.execPath, ['--import', 'tsx', ...program]);
  expect([status, signal]).toEqual(how === 'whole' ? [0, null] : [null, 'SIGKILL']);
}

/** A backup, which runs something when the control database is copied and no project is yet. */
function backedUp({ data, folder }: Copy, meanwhile: () => void): Promise<unknown> {
  return backUp({
    dataFolder: data,
    folder,
    keyFile: join(data, 'master.key'),
    bucket: null,
    now: Date.now(),
    signal: new AbortController().signal,
    onSpare: () => undefined,
    onProgress: (done) => {
      if (done === 0) meanwhile();
    },
  });
}

/** An export, which runs something when the project is held and not copied yet. */
function exported({ data, folder }: Copy, meanwhile: () => void): Promise<unknown> {
  return exportProject({
    settings: readAdminSettings({}, { data }),
    project: SLUG,
    folder,
    hold: true,
    now: Date.now(),
    signal: new AbortController().signal,
    onHeld: meanwhile,
    onProgress: () => undefined,
    onRows: () => undefined,
  });
}

describe.each([
  ['backup', backedUp],
  ['export', exported],
])('a copy that would have secrets of two keys: %s', (kind, run) => {
  it.each(['whole', 'killed'] as const)(
    'is refused and removed where the master key was changed meanwhile: %s',
    async (how) => {
      const copy = copyOf(`${kind}-${how}`);
      await expect(run(copy, () => rekeyNow(copy, how))).rejects.toThrow(CHANGED);
      expect([existsSync(copy.folder), existsSync(`${copy.folder}.partial`)]).toEqual([
        false,
        false,
      ]);
    },
  );

  it('is made when the key was changed once before, and not meanwhile', async () => {
    const copy = copyOf(`${kind}-after`);
    rekeyNow(copy, 'whole');
    await run(copy, () => undefined);
    expect(existsSync(join(copy.folder, 'manifest.json'))).toBe(true);
  });
});

it('a backup that was refused for another key is made when the change has ended', async () => {
  const copy = copyOf('again');
  await expect(backedUp(copy, () => rekeyNow(copy, 'killed'))).rejects.toThrow(CHANGED);
  const args = ['--data', copy.data];
  expect((await operator(['rekey', '--new-key', copy.newKey, ...args])).code).toBe(0);
  const made = await operator(['backup', copy.folder, '--include-key', ...args]);
  expect(made.code).toBe(0);
  const restored = join(root.path, 'again-restored');
  expect((await operator(['restore', copy.folder, '--data', restored])).code).toBe(0);
});
