import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCredentials } from '../../daemon/credentials.ts';
import { Daemon } from '../../daemon/daemon.ts';
import { resolveHome, type Home } from '../../daemon/home.ts';
import { askStatus, askStop } from '../../daemon/probe.ts';
import { readRecord } from '../../daemon/record.ts';
import { Waits } from '../../shared/kernel/waits.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { cloningWriters } from '../helpers/writers.ts';

let folder: ReturnType<typeof temporaryFolder>;
let home: Home;
let ends: number[];
const running: Daemon[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  home = resolveHome({ SVC_HOME: folder.path });
  ends = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const daemon of running.splice(0)) await daemon.stop();
  folder.remove();
});

async function start(port = 0, profile?: string): Promise<Daemon> {
  const daemon = await Daemon.start({
    home,
    env: {},
    port,
    profile,
    ratePerMinute: 0,
    openWriters: cloningWriters,
    createLog: () => pino({ level: 'silent' }),
    onEnd: (code) => ends.push(code),
  });
  running.push(daemon);
  return daemon;
}

const get = (path: string, key?: string) => call('GET', path, key);

async function call(
  method: string,
  path: string,
  key?: string,
): Promise<{ status: number; body: unknown }> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const sent = request({ socketPath: home.socketPath, method, path, headers, agent: false }).end();
  const [answer] = await once(sent, 'response');
  return { status: answer.statusCode, body: await json(answer) };
}

const storedKey = (): string =>
  readCredentials(home.credentialsFile)?.profiles['default']?.api_key ?? '';

describe('the first start', () => {
  it('makes a project and a key that may do everything, for this user alone', async () => {
    const { record } = await start();
    const stored = readCredentials(home.credentialsFile);
    expect(stored).toEqual({
      profiles: {
        default: {
          gateway: null,
          api_key: expect.stringMatching(/^svc_live_/),
          project: record.project,
        },
      },
      current: 'default',
    });
    expect(await get('/v1/whoami', storedKey())).toMatchObject({
      status: 200,
      body: { project: { id: record.project, slug: 'local', name: 'local' } },
    });
    for (const path of [home.credentialsFile, home.daemonFile, home.socketPath]) {
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(statSync(home.dataFolder).mode & 0o777).toBe(0o700);
  });

  it('is repeated without harm: the same project and key', async () => {
    const first = (await start()).record;
    const key = storedKey();
    await running.pop()?.stop();
    const second = (await start()).record;
    expect(second.project).toBe(first.project);
    expect(second.instance).not.toBe(first.instance);
    expect(storedKey()).toBe(key);
  });

  it('is finished when it was cut short before the key was stored', async () => {
    const { project } = (await start()).record;
    await running.pop()?.stop();
    rmSync(home.credentialsFile);
    expect((await start()).record.project).toBe(project);
    expect((await get('/v1/whoami', storedKey())).status).toBe(200);
  });

  it('gives whoever runs the machine a new key when a thief has changed the secret of the stored one', async () => {
    const { project } = (await start()).record;
    const stolen = storedKey();
    const own = (await get('/v1/whoami', stolen)).body as { key: { id: string } };
    const rotated = await call('POST', `/v1/keys/${own.key.id}/rotate`, stolen);
    const thief = (rotated.body as { api_key: string }).api_key;
    const again = await call('POST', `/v1/keys/${own.key.id}/rotate`, thief);
    await running.pop()?.stop();
    expect((await start()).record.project).toBe(project);
    expect(storedKey()).not.toBe(stolen);
    expect((await call('DELETE', `/v1/keys/${own.key.id}`, storedKey())).status).toBe(200);
    const latest = (again.body as { api_key: string }).api_key;
    expect((await get('/v1/whoami', latest)).status).toBe(401);
    expect((await get('/v1/whoami', storedKey())).status).toBe(200);
  });

  it('keeps other profiles and the current one', async () => {
    const work = { gateway: 'https://gw.example', api_key: 'svc_live_x', project: 'prj_x' };
    const stored = { profiles: { work }, current: 'work' };
    writeFileSync(home.credentialsFile, JSON.stringify(stored));
    const { record } = await start(0, 'default');
    expect(record).toMatchObject({ mode: 'local', gateway: null });
    expect(readCredentials(home.credentialsFile)).toMatchObject(stored);
    expect(storedKey()).toMatch(/^svc_live_\w{50,}/);
  });

  it('refuses a profile that is not there, or leads nowhere', async () => {
    await expect(start(0, 'other')).rejects.toThrow('No profile "other".');
    const work = { gateway: 'gw.example', api_key: 'svc_live_x', project: 'prj_x' };
    const stored = { profiles: { work }, current: 'work' };
    writeFileSync(home.credentialsFile, JSON.stringify(stored));
    await expect(start()).rejects.toThrow('The profile "work" has no gateway address.');
    expect(await askStatus(home.socketPath)).toBeNull();
  });

  it('refuses a credentials file that it cannot read, and leaves it alone', async () => {
    writeFileSync(home.credentialsFile, '{"profiles":');
    await expect(start()).rejects.toThrow("svc can't read");
    expect(await askStatus(home.socketPath)).toBeNull();
    expect(existsSync(home.daemonFile)).toBe(false);
  });
});

describe('a running daemon', () => {
  it('answers for itself on its socket, and nowhere else', async () => {
    const { record } = await start();
    expect(record).toEqual(readRecord(home.daemonFile));
    expect(record).toMatchObject({ state: 'ready', mode: 'local', pid: process.pid });
    expect(await askStatus(home.socketPath)).toMatchObject({
      ...record,
      uptime_seconds: expect.any(Number),
    });
    expect((await fetch(`${record.base_url}/_daemon/status`)).status).toBe(404);
    expect((await fetch(`${record.base_url}/_daemon/stop`, { method: 'POST' })).status).toBe(404);
    expect(ends).toEqual([]);
    expect(await askStop(home.socketPath)).toBe(true);
    expect(ends).toEqual([0]);
  });

  it('keeps others from its data, and says who it is', async () => {
    const { record } = await start();
    const other = { ...home, socketPath: `${home.socketPath}2`, daemonFile: `${home.daemonFile}2` };
    home = { ...other, lockFile: `${home.lockFile}2` };
    await expect(start()).resolves.toBeDefined();
    await expect(start()).rejects.toThrow(
      `Already running: pid ${process.pid} at http://127.0.0.1:`,
    );
    expect(record.state).toBe('ready');
  });

  it('is not pushed from its socket by one with other data', async () => {
    const { record } = await start();
    home = { ...home, lockFile: `${home.lockFile}2`, dataFolder: `${home.dataFolder}2` };
    await expect(start()).rejects.toThrow(
      `uses this socket: pid ${process.pid} at ${record.base_url}`,
    );
    expect(readRecord(home.daemonFile)?.instance).toBe(record.instance);
  });

  it('names the process on a port that is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    await expect(start(port)).rejects.toThrow(
      new RegExp(`^Port ${port} is taken by .*\\(pid ${process.pid}\\)\\. Free it, or choose`),
    );
    expect(existsSync(home.socketPath)).toBe(false);
    holder.close();
  });
});

describe('the end', () => {
  it('answers waits, lets answers under way finish and leaves no trace', async () => {
    const daemon = await start();
    const held = vi.spyOn(Waits.prototype, 'wait');
    const waiting = get('/v1/inbox/wait?timeout_seconds=120', storedKey());
    await expect.poll(() => held.mock.calls.length).toBe(1);
    await daemon.stop();
    // One that had to be cut off would have no answer.
    expect(await waiting).toEqual({ status: 200, body: { event: null } });
    expect(existsSync(home.daemonFile)).toBe(false);
    expect(existsSync(home.socketPath)).toBe(false);
    await expect(start()).resolves.toBeDefined();
  });
});
