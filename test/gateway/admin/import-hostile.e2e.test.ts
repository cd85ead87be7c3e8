import { hash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { editManifest, editRows, seed, SLUG, type Seeded } from './moving.ts';
import { operator } from './operator.ts';

const origin = temporaryFolder();
const exportOnce = join(origin.path, 'export');
let project: Seeded;
beforeAll(async () => {
  const data = join(origin.path, 'data');
  mkdirSync(data);
  project = await seed(data);
  const { code, err } = await operator(['export', SLUG, exportOnce, '--data', data]);
  if (code !== 0) throw new Error(err);
});
afterAll(() => origin.remove());

let root: ReturnType<typeof temporaryFolder>;
let data: string;
let folder: string;
beforeEach(() => {
  root = temporaryFolder();
  data = join(root.path, 'data');
  folder = join(root.path, 'export');
  cpSync(exportOnce, folder, { recursive: true });
  mkdirSync(data);
  copyFileSync(join(origin.path, 'data', 'master.key'), join(data, 'master.key'));
});
afterEach(() => root.remove());

const imported = (...args: string[]) => operator(['import', folder, ...args, '--data', data]);

/** Changes one part of the manifest. */
function edit(part: 'project' | 'account', change: Record<string, unknown>): void {
  editManifest(folder, (manifest) => Object.assign(manifest[part] as object, change));
}

describe('an export that somebody has made up', () => {
  it.each<[string, () => void, string]>([
    [
      'with a trigger',
      () => editRows(folder, 'CREATE TRIGGER t AFTER INSERT ON kv BEGIN DELETE FROM ledger; END'),
      'isn\'t what svc created: "trigger t"',
    ],
    [
      'with a view',
      () => editRows(folder, 'CREATE VIEW v AS SELECT 1'),
      'isn\'t what svc created: "view v"',
    ],
    [
      'with a virtual table in place of its own',
      () =>
        editRows(folder, 'DROP TABLE source_hour; CREATE VIRTUAL TABLE source_hour USING fts5(x)'),
      'isn\'t what svc created: "table source_hour',
    ],
    [
      'with a column that computes',
      () => editRows(folder, "ALTER TABLE kv ADD COLUMN odd BLOB AS (x'00')"),
      'isn\'t what svc created: "table kv"',
    ],
    [
      'without one of its tables',
      () => editRows(folder, 'DROP TABLE source_hour'),
      'isn\'t what svc created: "table source_hour"',
    ],
    [
      'with a reserved slug',
      () => edit('project', { slug: 'postmaster' }),
      "postmaster can't be a slug",
    ],
    [
      'with a slug that is too long',
      () => edit('project', { slug: 'a'.repeat(41) }),
      "can't be a slug",
    ],
    [
      'with a name that ends a line',
      () => edit('project', { name: 'Shop\nBcc: eve@example.com' }),
      'Control characters are not allowed.',
    ],
    [
      'with an id that is a path',
      () => edit('project', { id: '../../../../etc' }),
      "can't be read by this release",
    ],
    [
      'with the account of somebody else under the address of its own',
      () => edit('account', { address_hash: 'other' }),
      "its account wasn't sealed",
    ],
    [
      'with an account whose address nobody can open',
      () => edit('account', { address: 'AAAA' }),
      "its account wasn't sealed",
    ],
    [
      'with a device in place of its database',
      () => {
        rmSync(join(folder, 'project.db'));
        symlinkSync('/dev/zero', join(folder, 'project.db'));
        editManifest(folder, (manifest) => {
          manifest['database'] = { size_bytes: 0, sha256: hash('sha256', '') };
        });
      },
      "project.db isn't a file",
    ],
  ])('is refused %s, and leaves nothing', async (_, spoil, reason) => {
    spoil();
    const { code, err } = await imported();
    expect([code, err]).toEqual([1, expect.stringContaining(reason)]);
    expect(existsSync(join(data, 'projects', project.id))).toBe(false);
    expect(existsSync(join(data, 'importing'))).toBe(false);
  });

  it('may be taken in under another slug where its own is reserved', async () => {
    edit('project', { slug: 'postmaster' });
    expect((await imported('--slug', 'shop-2')).code).toBe(0);
  });

  it('leads to no file that is not a blob', async () => {
    const key = readFileSync(join(data, 'master.key'));
    editRows(folder, `UPDATE file SET digest = '../../master.key', size_bytes = ${key.length}`);
    expect((await imported()).code).toBe(0);
    const gateway = await TestGateway.start({ folder: data, signIn: true });
    try {
      const { status, body } = await gateway.call('GET', '/v1/files/big', { key: project.apiKey });
      expect(status).not.toBe(200);
      expect(JSON.stringify(body)).not.toContain(key.toString('base64'));
    } finally {
      await gateway.stop({ keepFolder: true });
    }
  });
});
