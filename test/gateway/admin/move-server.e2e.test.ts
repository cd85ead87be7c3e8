import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importProject } from '../../../gateway/admin/move/import.ts';
import { readAdminSettings } from '../../../gateway/admin/settings.ts';
import type { DatabaseLocation, RemoteLocation } from '../../../shared/store/engine/location.ts';
import { openClient } from '../../../shared/store/remote/client.ts';
import { FakeClock, TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { startHrana, type HranaServer } from '../../helpers/hrana/server.ts';
import { look, seed, SLUG, type Seeded } from './moving.ts';
import { OPERATOR, operator } from './operator.ts';

let root: ReturnType<typeof temporaryFolder>;
let servers: HranaServer[];
beforeEach(() => {
  root = temporaryFolder();
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.stop();
  root.remove();
});

/** Where a gateway has its data: a folder, and perhaps a server. */
interface Site {
  readonly folder: string;
  /** For the commands of an operator. */
  readonly env: Record<string, string>;
  /** For a gateway. */
  readonly options: Parameters<typeof seed>[1];
}

function inFolder(name: string): Site {
  const folder = join(root.path, name);
  mkdirSync(folder);
  return { folder, env: {}, options: {} };
}

async function onServer(name: string, create: 'auto' | 'api' = 'auto'): Promise<Site> {
  const own = join(root.path, `${name}-server`);
  mkdirSync(own);
  const server = await startHrana({ folder: own, create, token: 'secret-token' });
  servers.push(server);
  const url = `${server.url}/{project}/`;
  const maker = `${server.url}/v1/namespaces/{project}/create`;
  const isAsked = create === 'api';
  const token = 'secret-token';
  return {
    folder: inFolder(name).folder,
    env: {
      SVC_DATABASE_URL: url,
      SVC_DATABASE_TOKEN: token,
      ...(isAsked && { SVC_DATABASE_CREATE_URL: maker, SVC_DATABASE_CREATE_TOKEN: token }),
    },
    options: { store: { url, token, maker: isAsked ? { url: maker, token } : null } },
  };
}

/** With its blobs in a folder that other gateways see. */
async function besideOthers(name: string): Promise<Site> {
  const { folder, env, options } = await onServer(name);
  const blobs = join(root.path, `${name}-blobs`);
  mkdirSync(blobs);
  return {
    folder,
    env: { ...env, SVC_BLOBS: `file:${blobs}` },
    options: { ...options, blobs: { kind: 'file', folder: blobs } },
  };
}

function at(name: string, kind: string): Site | Promise<Site> {
  return kind === 'files' ? inFolder(name) : onServer(name, kind === 'asked' ? 'api' : 'auto');
}

const exported = () => join(root.path, 'export');

function giveKey(from: Site, to: Site): void {
  copyFileSync(join(from.folder, 'master.key'), join(to.folder, 'master.key'));
}

async function take(from: Site): Promise<void> {
  const ran = await operator(['export', SLUG, exported(), '--data', from.folder], from.env);
  expect([ran.code, ran.out]).toEqual([0, expect.stringContaining(`Exported ${SLUG}`)]);
}

const bring = (to: Site, ...args: string[]) =>
  operator(['import', exported(), ...args, '--data', to.folder], to.env);

async function expectWhole(site: Site, project: Seeded): Promise<void> {
  expect(await look(site.folder, project, site.options)).toMatchObject({
    value: { n: 1 },
    isFileWhole: true,
    verified: { ok: true, anchored: true, to_seq: project.head.seq },
    owned: [SLUG],
    written: 200,
  });
}

describe('a project that moves between files and servers', () => {
  it.each([
    ['from files to a server', 'files', 'server'],
    ['from a server to files', 'server', 'files'],
    ['from a server to another', 'server', 'server'],
    ['from files to a server that is asked for databases', 'files', 'asked'],
  ])('is as it was, %s', async (_, from, to) => {
    const [old, fresh] = [await at('old', from), await at('new', to)];
    const project = await seed(old.folder, old.options);
    giveKey(old, fresh);
    await take(old);
    const ran = await bring(fresh);
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('svc gateway project moved')]);
    expect(existsSync(join(fresh.folder, 'importing'))).toBe(false);
    await expectWhole(fresh, project);
  });
});

describe('an import into a server', () => {
  let old: Site;
  let fresh: Site;
  let project: Seeded;
  beforeEach(async () => {
    old = inFolder('old');
    fresh = await onServer('new');
    project = await seed(old.folder, old.options);
    giveKey(old, fresh);
    await take(old);
  });

  const settingsOf = ({ folder, env }: Site) => readAdminSettings({ ...env, SVC_DATA: folder }, {});
  const imported = (change: Partial<Parameters<typeof importProject>[0]> = {}) =>
    importProject({
      settings: settingsOf(fresh),
      folder: exported(),
      slug: null,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      onRows: () => undefined,
      ...change,
    });
  /** As from another machine: a gateway that runs has its own mirrors. */
  const beside = () => {
    const { databases } = settingsOf({ ...fresh, folder: inFolder('operator').folder });
    return { settings: { ...settingsOf(fresh), databases } };
  };
  const rows = (sql: string): Promise<unknown[]> =>
    withClient(settingsOf(fresh).databases.ofProject(project.id), sql);

  it('shows nothing of it before all of it is there, and nothing of it is erased', async () => {
    const clock = new FakeClock(Date.now());
    const gateway = await TestGateway.start({ folder: fresh.folder, clock, ...fresh.options });
    const { projects } = gateway.gateway;
    const whatIsSeen = async () =>
      [await projects.find(project.id), (await projects.list()).map(({ id }) => id)] as const;
    const seen: Promise<Awaited<ReturnType<typeof whatIsSeen>>>[] = [];
    await imported({ ...beside(), onRows: () => void seen.push(whatIsSeen()) });
    expect(seen.length).toBeGreaterThan(5);
    for (const one of await Promise.all(seen)) expect(one).toEqual([null, [gateway.projectId]]);
    // From here on it is known, and what no row names is swept.
    const orphan = join(fresh.folder, 'projects', project.id, 'blobs', 'ab', 'ab'.repeat(32));
    mkdirSync(dirname(orphan), { recursive: true });
    writeFileSync(orphan, 'of nobody');
    clock.advance(2 * 86_400_000);
    projects.adopt([{ id: project.id, isIdle: false, nextDueAt: null }]);
    await expect.poll(() => existsSync(orphan)).toBe(false);
    await gateway.stop({ keepFolder: true });
    await expectWhole(fresh, project);
  });

  it('leaves nothing when it is interrupted, and may be repeated', async () => {
    const closing = new AbortController();
    const work = imported({
      signal: closing.signal,
      onRows: (done) => {
        if (done > 0) closing.abort();
      },
    });
    await expect(work).rejects.toMatchObject({ name: 'AbortError' });
    expect(existsSync(join(fresh.folder, 'importing'))).toBe(false);
    expect(existsSync(join(fresh.folder, 'projects', project.id))).toBe(false);
    expect(await rows('SELECT id FROM key')).toEqual([]);
    await imported();
    await expectWhole(fresh, project);
  });

  it('may be killed at any moment, and repeated', async () => {
    const args = [OPERATOR, 'import', exported(), '--data', fresh.folder];
    for (const ms of [150, 250, 350, 500, 700]) {
      const env = { ...process.env, ...fresh.env };
      const child = spawn(process.execPath, args, { stdio: 'ignore', env });
      const ended = once(child, 'exit');
      await sleep(ms);
      child.kill('SIGKILL');
      await ended;
    }
    const { code, out, err } = await bring(fresh);
    expect(`${code} ${out}${err}`).toMatch(/^(0 Imported|1 [^]*This gateway has) acme-shop/);
    await expectWhole(fresh, project);
  });

  it('that is refused at its end goes on from there under another slug', async () => {
    const gateway = await TestGateway.start({ folder: fresh.folder, ...fresh.options });
    const { projects } = gateway.gateway;
    const others: Promise<unknown>[] = [];
    const own = beside();
    const work = imported({
      ...own,
      onRows: () => {
        if (others.length === 0) others.push(projects.create({ name: 'Other', slug: SLUG }));
      },
    });
    await expect(work).rejects.toThrow("It wasn't imported: slug_taken.");
    await Promise.all(others);
    const told: number[] = [];
    await imported({ ...own, slug: 'acme-2', onRows: (done) => told.push(done) });
    expect(told).toEqual([]);
    const answer = await gateway.call('GET', '/v1/kv/a', { key: project.apiKey });
    expect(answer.body['value']).toEqual({ n: 1 });
    await gateway.stop({ keepFolder: true });
  });

  it('is refused where a database is there already', async () => {
    await rows('CREATE TABLE mine (value TEXT)');
    const { code, err } = await bring(fresh);
    const told = `The database of ${project.id} on the server: It is not empty, and no import has left it.`;
    expect([code, err]).toEqual([1, expect.stringContaining(told)]);
    expect(await rows('SELECT name FROM sqlite_schema')).toEqual([['mine']]);
  });

  it('says what is wrong with the server, and not with which token it asked', async () => {
    const refused = await bring({ ...fresh, env: { ...fresh.env, SVC_DATABASE_TOKEN: 'another' } });
    const { host } = new URL(servers.at(-1)?.url ?? '');
    expect([refused.code, refused.err]).toEqual([
      1,
      `svc: SVC_DATABASE_URL: the gateway can't use the database server at ${host}.\n  The database server refuses SVC_DATABASE_TOKEN (status 401).\n`,
    ]);
    const url = 'http://127.0.0.1:9/{project}/';
    const away = await bring({ ...fresh, env: { SVC_DATABASE_URL: url } });
    expect(away.err).toBe(
      "svc: SVC_DATABASE_URL: the gateway can't use the database server at 127.0.0.1:9.\n  connect ECONNREFUSED 127.0.0.1:9\n",
    );
    const wrong = await bring({ ...fresh, env: { SVC_DATABASE_URL: 'http://127.0.0.1:9/' } });
    expect(wrong.err).toContain('`{project}` is missing');
  });

  it('is refused where the secrets of the store were sealed with another key', async () => {
    const other = inFolder('other');
    await (
      await TestGateway.start({ folder: other.folder, ...fresh.options })
    ).stop({
      keepFolder: true,
    });
    const { code, err } = await bring(fresh);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('the secrets in this store were sealed with another key'),
    ]);
  });

  it.each(['backup', 'restore'])('is no %s, which is for files', async (task) => {
    const folder = join(root.path, 'whole');
    const { code, err } = await operator([task, folder, '--data', fresh.folder], fresh.env);
    expect([code, err]).toEqual([
      1,
      `svc: SVC_DATABASE_URL is set: the databases are on a server. Back them up and restore them there. To copy one project: svc gateway export PROJECT ${folder}\n`,
    ]);
    expect(existsSync(folder)).toBe(false);
  });
});

async function withClient(location: DatabaseLocation, sql: string): Promise<unknown[]> {
  const client = openClient(location as RemoteLocation);
  const { rows } = await client.execute(sql);
  client.close();
  return rows.map((row) => Array.from(row));
}

it('a project takes its blobs along between folders that several gateways see', async () => {
  const [from, to] = [await besideOthers('old'), await besideOthers('new')];
  const project = await seed(from.folder, from.options);
  await take(from);
  giveKey(from, to);
  const ran = await operator(['import', exported(), '--data', to.folder], to.env);
  expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('1 blob,')]);
  expect(await look(to.folder, project, to.options)).toMatchObject({ isFileWhole: true });
});
