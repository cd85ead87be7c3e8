import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Databases } from '../../../gateway/store/databases.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { newProject } from '../../helpers/team.ts';
import { askOperator } from '../operator/ask-operator.ts';
import { Hosted } from '../server/hosted.ts';
import {
  CONTENT,
  databaseOf,
  editManifest,
  editRows,
  look,
  seed,
  SLUG,
  type Seeded,
} from './moving.ts';
import { OPERATOR, operator } from './operator.ts';

const DIGEST = hash('sha256', CONTENT);

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

/** Nothing of the project is in the data. */
function expectNothing(): void {
  expect(existsSync(join(data, 'projects', project.id))).toBe(false);
  expect(existsSync(join(data, 'importing'))).toBe(false);
}

const edit = (change: (manifest: Record<string, unknown>) => void): void =>
  editManifest(folder, change);
const editExported = (sql: string): void => editRows(folder, sql);

describe('an import without a gateway', () => {
  it('is as it was at the old one, and its replicas copy it afresh', async () => {
    const ran = await imported();
    expect([ran.code, ran.err]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`svc gateway project moved ${SLUG} --to URL --receipt imp_[0-9a-f]{26}\\n`),
      ),
    ]);
    expect(ran.out).toContain(`Imported ${SLUG} (${project.id}): 1 blob,`);
    expect(readdirSync(join(data, 'projects', project.id)).toSorted()).toEqual([
      'blobs',
      'project.db',
    ]);
    expect(existsSync(join(data, 'importing'))).toBe(false);
    const seen = await look(data, project);
    expect(seen).toMatchObject({
      value: { n: 1 },
      isFileWhole: true,
      verified: { ok: true, anchored: true, to_seq: project.head.seq },
      owned: [SLUG],
      written: 200,
    });
    expect(project.epoch).toEqual(expect.any(String));
    expect(seen.epoch).toEqual(expect.any(String));
    expect(seen.epoch).not.toBe(project.epoch);
  });

  it('leaves the export as it is', async () => {
    const before = hash('sha256', readFileSync(join(folder, 'project.db')));
    await imported('--json');
    expect(hash('sha256', readFileSync(join(folder, 'project.db')))).toBe(before);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  it('may give the project another slug', async () => {
    const { out } = await imported('--slug', 'acme-2', '--json');
    expect(JSON.parse(out)).toMatchObject({ project: { id: project.id, slug: 'acme-2' }, data });
    expect(await look(data, project)).toMatchObject({ owned: ['acme-2'], written: 200 });
  });

  it('is refused a second time', async () => {
    await imported();
    const { code, err } = await imported();
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`This gateway has ${SLUG} (${project.id}).`),
    ]);
    expect((await look(data, project)).written).toBe(200);
  });

  it.each<[string, () => void, string]>([
    [
      'with a database that is damaged',
      () => truncateSync(join(folder, 'project.db'), 4096),
      'project.db is damaged',
    ],
    [
      'with a manifest that is damaged',
      () => appendFileSync(join(folder, 'manifest.json'), ' '),
      'manifest.json is damaged',
    ],
    [
      'without one of its files',
      () => rmSync(join(folder, 'blobs'), { recursive: true }),
      `${DIGEST} is missing`,
    ],
    [
      'with a file that is damaged',
      () => writeFileSync(join(folder, 'blobs', DIGEST.slice(0, 2), DIGEST), 'other'),
      `${DIGEST} is damaged`,
    ],
    [
      'with a ledger that somebody has changed',
      () => editExported("UPDATE ledger SET op = 'other' WHERE seq = 2"),
      'its ledger is broken at seq 2',
    ],
    [
      'with a ledger that was cut',
      () => editExported('DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)'),
      'its ledger ends before seq',
    ],
    [
      'that a newer release has made',
      () => editExported('PRAGMA user_version=999'),
      'has schema 999, newer than',
    ],
    [
      'with another master key',
      () => writeFileSync(join(data, 'master.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`),
      "name that key's file with SVC_MASTER_KEY_FILE",
    ],
    [
      'whose secrets another master key has sealed',
      () => {
        const key = Buffer.alloc(32, 7);
        writeFileSync(join(data, 'master.key'), `${key.toString('base64')}\n`);
        edit((manifest) => {
          manifest['master_key'] = hash('sha256', hash('sha256', key, 'buffer')).slice(0, 8);
        });
      },
      "This isn't the master key",
    ],
    [
      'without a master key',
      () => rmSync(join(data, 'master.key')),
      'master.key is missing. Name it with SVC_MASTER_KEY_FILE.',
    ],
    [
      'that is a backup',
      () => edit((manifest) => delete manifest['kind']),
      'is a backup of a whole gateway',
    ],
    ['that is nothing', () => rmSync(join(folder, 'manifest.json')), 'is no export of a project'],
  ])('is refused %s, and leaves nothing', async (_, spoil, reason) => {
    spoil();
    const { code, err } = await imported();
    expect([code, err]).toEqual([1, expect.stringContaining(reason)]);
    expectNothing();
  });

  it('refuses a slug that is none', async () => {
    expect((await imported('--slug', 'No Slug')).err).toContain("can't be a slug");
    expect((await imported('--slug', 'postmaster')).err).toContain("can't be a slug");
  });

  it('begins anew where one was cut short', async () => {
    // In place, and the gateway never heard of it.
    const place = join(data, 'projects', project.id);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'importing'), '');
    writeFileSync(databaseOf(data, project), 'half');
    mkdirSync(join(data, 'importing', project.id), { recursive: true });
    expect((await imported()).code).toBe(0);
    expect((await look(data, project)).isFileWhole).toBe(true);
  });

  it('may be killed at any moment, and repeated', async () => {
    for (const ms of [100, 140, 180, 220, 260]) {
      const child = spawn(process.execPath, [OPERATOR, 'import', folder, '--data', data], {
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      await sleep(ms);
      child.kill('SIGKILL');
      await ended;
    }
    // One of them may have come to its end.
    const { code, out, err } = await imported();
    expect(`${code} ${out}${err}`).toMatch(/^(0 Imported|1 [^]*This gateway has) acme-shop/);
    expect(await look(data, project)).toMatchObject({ isFileWhole: true, written: 200 });
  });

  it('touches no folder that it did not make', async () => {
    const place = join(data, 'projects', project.id);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'mine'), 'kept');
    expect((await imported()).err).toContain('Move it away first.');
    expect(readFileSync(join(place, 'mine'), 'utf8')).toBe('kept');
  });
});

describe('an import into a gateway that runs', () => {
  let hosted: Awaited<ReturnType<typeof Hosted.start>> | null = null;
  afterEach(() => hosted?.end('SIGKILL'));

  async function start(): Promise<string> {
    hosted = await Hosted.start({ SVC_DATA: data, SVC_LISTEN: '127.0.0.1:0' });
    return hosted.status.listen;
  }

  it('is usable at once, also beside a gateway of others', async () => {
    await newProject(data, 'other');
    const url = await start();
    expect((await imported()).code).toBe(0);
    const headers = { authorization: `Bearer ${project.apiKey}` };
    const file = await fetch(`${url}/v1/files/big`, { headers });
    expect(Buffer.from(await file.arrayBuffer()).length).toBeGreaterThan(CONTENT.length);
    const put = { method: 'PUT', body: '2', headers: { ...headers, 'content-type': 'text/plain' } };
    expect((await fetch(`${url}/v1/kv/a`, put)).status).toBe(200);
    const listed = await askOperator(join(data, 'operator.sock'), 'GET', '/projects');
    expect(JSON.stringify(listed.body)).toContain(`"slug":"${SLUG}"`);
    expect(existsSync(join(data, 'importing'))).toBe(false);
  });

  it('is refused where its slug is taken, and takes another', async () => {
    await newProject(data, SLUG);
    await start();
    const { code, err } = await imported();
    expect([code, err]).toEqual([1, expect.stringContaining(`import ${folder} --slug NEW`)]);
    expectNothing();
    expect((await imported('--slug', 'acme-2')).code).toBe(0);
  });

  it('is refused by the gateway itself when both come at once', async () => {
    await start();
    const socket = join(data, 'operator.sock');
    const created_at = '2026-01-02T03:04:05.000Z';
    const body = {
      store: new Databases(data, null).fingerprint,
      project: { id: project.id, slug: SLUG, name: 'Shop', created_at },
      account: null,
    };
    const order = (change: object) =>
      askOperator(
        socket,
        'POST',
        '/imports',
        JSON.stringify({ ...body, project: { ...body.project, ...change } }),
      );
    expect((await order({})).status).toBe(200);
    expect(await order({})).toMatchObject({
      status: 412,
      body: { error: { code: 'PRECONDITION_FAILED', details: { taken: 'id' } } },
    });
    expect(await order({ id: 'prj_0000000000000000' })).toMatchObject({
      status: 412,
      body: { error: { details: { taken: 'slug' } } },
    });
    const elsewhere = JSON.stringify({ ...body, store: 'elsewhere' });
    expect(await askOperator(socket, 'POST', '/imports', elsewhere)).toMatchObject({
      status: 412,
      body: { error: { hint: expect.stringContaining('the same SVC_DATABASE_URL') as string } },
    });
    expect((await askOperator(socket, 'POST', '/imports', '{}')).status).toBe(400);
    expect((await askOperator(socket, 'GET', '/imports')).status).toBe(405);
  });
});
