import { hash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exportProject } from '../../../gateway/admin/move/export.ts';
import { readAdminSettings } from '../../../gateway/admin/settings.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { newProject } from '../../helpers/team.ts';
import { Hosted } from '../server/hosted.ts';
import { CONTENT, databaseOf, seed, SLUG, type Seeded } from './moving.ts';
import { operator } from './operator.ts';

const DIGEST = hash('sha256', CONTENT);

const origin = temporaryFolder();
let project: Seeded;
beforeAll(async () => {
  project = await seed(origin.path);
});
afterAll(() => origin.remove());

let root: ReturnType<typeof temporaryFolder>;
let data: string;
let folder: string;
beforeEach(() => {
  root = temporaryFolder();
  data = join(root.path, 'data');
  folder = join(root.path, 'moves', 'shop');
  cpSync(origin.path, data, { recursive: true });
});
afterEach(() => root.remove());

const exported = (...args: string[]) => operator(['export', ...args, '--data', data]);

/** Nothing is left of an export that failed. */
function expectNothing(): void {
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(`${folder}.partial`)).toBe(false);
}

describe('an export without a gateway', () => {
  it('holds one project, all of it, and says what it is', async () => {
    const ran = await exported(SLUG, folder, '--json');
    expect(ran.code).toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual([
      'blobs',
      'manifest.json',
      'manifest.sha256',
      'project.db',
    ]);
    const key = Buffer.from(readFileSync(join(data, 'master.key'), 'utf8').trim(), 'base64');
    const fingerprint = hash('sha256', hash('sha256', key, 'buffer')).slice(0, 8);
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as object;
    const database = readFileSync(join(folder, 'project.db'));
    const blobs = { count: 1, size_bytes: CONTENT.length };
    expect(manifest).toEqual({
      kind: 'project',
      format: 1,
      version: expect.any(String),
      created_at: expect.any(String),
      held: false,
      project: { id: project.id, slug: SLUG, name: 'Acme Shop', created_at: expect.any(String) },
      account: {
        id: expect.stringMatching(/^acc_/),
        address: expect.any(String),
        address_hash: expect.any(String),
        created_at: expect.any(String),
      },
      master_key: fingerprint,
      database: { size_bytes: database.length, sha256: hash('sha256', database) },
      position: expect.any(Number),
      ledger: project.head,
      blobs,
    });
    expect(readFileSync(join(folder, 'blobs', DIGEST.slice(0, 2), DIGEST))).toEqual(CONTENT);
    expect(JSON.parse(ran.out)).toMatchObject({
      folder,
      project: { id: project.id, slug: SLUG },
      held: false,
      ledger: project.head,
      blobs: 1,
      size_bytes: database.length + CONTENT.length,
      master_key: fingerprint,
    });
  });

  it('says it in words', async () => {
    const { out, err } = await exported(project.id, folder);
    expect(out).toMatch(
      new RegExp(
        `^Exported ${SLUG} \\(${project.id}\\): 1 blob, [0-9]+ bytes, ledger up to entry ${project.head.seq} to ${folder}\\.\n` +
          'Its secrets are sealed with the master key [0-9a-f]{8}: the other gateway must have the same\\.\n$',
      ),
    );
    expect(err).toContain('Exporting: 1 of 1 blob');
  });

  it('holds the project where it is to, and leaves it held', async () => {
    const ran = await exported(SLUG, folder, '--hold');
    expect(ran.err).toContain(`${SLUG} is on hold: read-only.`);
    expect(readFileSync(join(folder, 'manifest.json'), 'utf8')).toContain('"held": true');
    const gateway = await TestGateway.start({ folder: data });
    const { apiKey: key } = project;
    const put = await gateway.call('PUT', '/v1/kv/a', { body: 2, key });
    expect(put.status).toBe(503);
    expect((await gateway.call('GET', '/v1/kv/a', { key })).status).toBe(200);
    await gateway.stop({ keepFolder: true });
  });

  it.each([
    ['of nobody', () => exported('nobody', folder), 'No project has the slug or id nobody.'],
    [
      'without its master key',
      () => {
        rmSync(join(data, 'master.key'));
        return exported(SLUG, folder);
      },
      'master.key is missing. Name it with SVC_MASTER_KEY_FILE.',
    ],
    [
      'of no gateway',
      () => {
        rmSync(join(data, 'control.db'));
        return exported(SLUG, folder);
      },
      'holds no gateway data',
    ],
    [
      'of a damaged file',
      () => {
        const blob = join(data, 'projects', project.id, 'blobs', DIGEST.slice(0, 2), DIGEST);
        writeFileSync(blob, 'other');
        return exported(SLUG, folder);
      },
      'is damaged',
    ],
    [
      'of a lost database',
      () => {
        rmSync(databaseOf(data, project));
        return exported(SLUG, folder);
      },
      'The database of the project is missing',
    ],
    ['without a folder', () => exported(SLUG), 'Usage: export PROJECT FOLDER'],
  ])('is refused %s', async (_, run, reason) => {
    const { code, err } = await run();
    expect(code).toBe(1);
    expect(err).toContain(reason);
    expectNothing();
  });

  it('does not write over anything', async () => {
    await exported(SLUG, folder);
    expect((await exported(SLUG, folder)).err).toContain('already exists');
  });

  it('leaves nothing when it is interrupted', async () => {
    const settings = readAdminSettings({ SVC_DATA: data }, {});
    const closing = new AbortController();
    const work = exportProject({
      settings,
      project: SLUG,
      folder,
      hold: false,
      now: Date.now(),
      signal: closing.signal,
      onHeld: () => undefined,
      onProgress: () => closing.abort(),
      onRows: () => undefined,
    });
    await expect(work).rejects.toMatchObject({ name: 'AbortError' });
    expectNothing();
  });
});

describe('an export beside a gateway that runs', () => {
  let hosted: Hosted | null = null;
  afterEach(() => hosted?.end('SIGKILL'));

  it('holds the project through its socket', async () => {
    const other = await newProject(data, 'other');
    const running = await Hosted.start({ SVC_DATA: data, SVC_LISTEN: '127.0.0.1:0' });
    hosted = running;
    const put = async (key: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const url = `${running.status.listen}/v1/kv/a`;
      return (await fetch(url, { method: 'PUT', headers, body: '1' })).status;
    };
    expect(await put(project.apiKey)).toBe(200);
    expect((await exported(SLUG, folder, '--hold')).code).toBe(0);
    expect(await put(project.apiKey)).toBe(503);
    expect(await put(other.apiKey)).toBe(200);
  });
});
