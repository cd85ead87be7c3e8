import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../shared/host/processes.ts';
import { TestGateway, temporaryFolder } from '../helpers/gateway.ts';
import { LossyProxy } from '../helpers/lossy-proxy.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const bundle = resolve('dist/svc.cjs');
let gateway: TestGateway;
let proxy: LossyProxy;
let folder: ReturnType<typeof temporaryFolder>;
let home: string;

beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(async () => {
  await gateway.stop();
});
beforeEach(async () => {
  proxy = await LossyProxy.open(gateway.url);
  folder = temporaryFolder();
  home = join(folder.path, 'home');
  storeCredentials('team');
});
afterEach(async () => {
  await svc('down');
  await proxy.down();
  folder.remove();
});

function storeCredentials(current: string): void {
  const team = { gateway: proxy.url, api_key: gateway.apiKey, project: gateway.projectId };
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeCredentials({ profiles: { team }, current });
}

function writeCredentials(credentials: unknown): void {
  writeFileSync(join(home, 'credentials.json'), JSON.stringify(credentials), { mode: 0o600 });
}

function svc(...args: string[]): Promise<Ran> {
  const env = { PATH: process.env['PATH'] ?? '', SVC_HOME: home };
  return new Promise((done) => {
    execFile(process.execPath, [bundle, ...args], { env }, (error, out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

async function up(...args: string[]): Promise<Record<string, unknown> & { pid: number }> {
  const { code, out, err } = await svc('up', '--port', '0', '--json', ...args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as Record<string, unknown> & { pid: number };
}

async function replica(): Promise<Record<string, unknown>> {
  const { replica: report } = JSON.parse((await svc('status')).out) as Record<string, unknown>;
  return report as Record<string, unknown>;
}

describe('svc up over a gateway', () => {
  it('starts a daemon that has a copy, and says where things are', async () => {
    const first = await up();
    expect(first).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      mcp_url: `${String(first['base_url'])}/mcp`,
      hooks_url: gateway.url,
      inbox_url: `${proxy.url}/ui`,
      socket: join(home, 'svc.sock'),
      project: gateway.projectId,
      pid: expect.any(Number),
      mode: 'replica',
    });
    expect(await up()).toEqual(first);
    // It returned with the copy, as that is small.
    expect(await replica()).toMatchObject({ state: 'live', reads: 'local', detail: null });
    expect((await svc('kv', 'set', 'color', '"blue"')).code).toBe(0);
    expect(JSON.parse((await svc('kv', 'get', 'color')).out)).toMatchObject({ value: 'blue' });
    expect((await svc('doctor')).code).toBe(0);
    expect((await svc('down')).code).toBe(0);
    expect(isAlive(first.pid)).toBe(false);
  });

  it("says that the gateway can't be reached, and runs all the same", async () => {
    await up();
    await svc('kv', 'set', 'color', '"blue"');
    await svc('kv', 'get', 'color');
    await svc('down');
    await proxy.down();
    const { code, err } = await svc('up', '--port', '0', '--json');
    expect([code, err]).toEqual([
      0,
      `${proxy.url} can't be reached: ECONNREFUSED. Reads come from the replica for up to 24 h; writes fail.\n`,
    ]);
    expect(JSON.parse((await svc('kv', 'get', 'color')).out)).toMatchObject({ value: 'blue' });
    const refused = await svc('kv', 'set', 'color', '"red"');
    expect(refused.code).toBe(7);
    expect(refused.err).toContain(`The gateway ${proxy.url} can't be reached`);
    await proxy.up();
    await expect.poll(replica).toMatchObject({ state: 'live' });
  });

  it('says that the key is refused', async () => {
    const key = await gateway.key('admin');
    const profiles = {
      team: { gateway: proxy.url, api_key: key, project: gateway.projectId },
    };
    const made = await gateway.call<{ key: { id: string } }>('GET', '/v1/whoami', { key });
    await gateway.call('DELETE', `/v1/keys/${made.body.key.id}`);
    writeCredentials({ profiles, current: 'team' });
    const { code, err } = await svc('up', '--port', '0', '--json');
    expect(code).toBe(0);
    expect(err).toContain(`${proxy.url} refuses the stored key (KEY_REVOKED).`);
    expect(err).toContain('svc login');
    expect(err).not.toContain(key);
  });

  it('restarts a daemon of another project, and only when asked to', async () => {
    const local = await up('--profile', 'default');
    expect(local['mode']).toBe('local');
    storeCredentials('team');
    expect((await svc('status')).out).toContain('"mode":"local"');
    const { code, out, err } = await svc('up', '--json');
    const team = JSON.parse(out) as Record<string, unknown>;
    expect([code, team['mode'], team['base_url']]).toEqual([0, 'replica', local['base_url']]);
    expect(err).toBe(`Restarted the daemon; it ran for the project ${String(local['project'])}.\n`);
    expect(isAlive(local.pid)).toBe(false);
    expect(team['project']).toBe(gateway.projectId);
  });

  it('refuses what cannot be: a profile that is not there, an owner of a project elsewhere', async () => {
    const unknown = await svc('up', '--profile', 'other');
    expect(unknown.code).toBe(7);
    expect(unknown.err).toContain('START_FAILED: No profile "other".');
    await up();
    const owner = await svc('up', '--owner', 'ana@example.com');
    expect(owner.code).toBe(7);
    expect(owner.err).toContain('The project is at a gateway: change its owner there.');
  });

  it('keeps the key out of its arguments and its log', async () => {
    const { pid } = await up();
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('svc_live_');
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('svc_live_');
    await proxy.down();
    await svc('kv', 'set', 'a', '1');
    await svc('down');
    expect(readFileSync(join(home, 'daemon.log'), 'utf8')).not.toContain(gateway.apiKey);
  });
});
