import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { VERSION } from '../../../shared/lib/version.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { Hosted, type Env } from './hosted.ts';

const TOKEN = 'metrics-token-of-this-test';
const soon = { timeout: 60_000 };

let folder: ReturnType<typeof temporaryFolder>;
let running: Hosted[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await Promise.all(running.map((hosted) => hosted.end('SIGKILL')));
  running = [];
  folder.remove();
});

const settings = (more: Env = {}): Env => ({
  SVC_DATA: join(folder.path, 'data'),
  SVC_LISTEN: '127.0.0.1:0',
  ...more,
});

async function start(env: Env = settings()) {
  const hosted = await Hosted.start(env);
  running.push(hosted);
  return hosted;
}

/** Status and body of a GET over a unix socket. */
function getOverSocket(socketPath: string, path: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const call = httpRequest({ socketPath, path }, (answer) => {
      let text = '';
      answer.on('data', (bytes: Buffer) => (text += bytes.toString()));
      answer.on('end', () => resolve([answer.statusCode ?? 0, text]));
    });
    call.on('error', reject);
    call.end();
  });
}

describe('a gateway that cannot start', () => {
  it('tells all that is wrong with its settings and exits with 1', async () => {
    const env = settings({ SVC_LISTEN: 'nowhere', SVC_RATE_LIMIT: 'x', SVC_PUBLIC_URL: 'y' });
    const { code, out, err } = await Hosted.refused(env);
    expect(code).toBe(1);
    expect(out).toBe('');
    const lines = err.trim().split('\n');
    expect(lines[0]).toBe('svc: Some settings are invalid.');
    expect(lines.slice(1).map((line) => /^ {2}(SVC_[A-Z_]+)/.exec(line)?.[1])).toEqual([
      'SVC_LISTEN',
      'SVC_PUBLIC_URL',
      'SVC_RATE_LIMIT',
    ]);
  });

  it('says who has its port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as AddressInfo;
    const { code, err } = await Hosted.refused(settings({ SVC_LISTEN: `127.0.0.1:${port}` }));
    server.close();
    expect(code).toBe(1);
    expect(err).toContain(`SVC_LISTEN: port ${port} is taken by `);
    expect(err).toContain(`(pid ${process.pid})`);
  });

  it('leaves data alone that another gateway has, and says which', async () => {
    const { status } = await start();
    const { code, err } = await Hosted.refused(settings());
    expect(code).toBe(1);
    expect(err).toContain(`Another process (pid ${status.pid}) has the data in ${status.data}.`);
  });

  it('leaves the data of a local daemon alone', async () => {
    const data = join(folder.path, 'data');
    mkdirSync(data);
    writeFileSync(join(data, 'mode'), 'local\n');
    const { code, err } = await Hosted.refused(settings());
    expect(code).toBe(1);
    expect(err).toContain(`The data in ${data} belong to the daemon of this machine`);
  });

  it('makes no new key for data that were sealed with another one', async () => {
    const hosted = await start();
    expect(await hosted.end()).toBe(0);
    const key = join(hosted.status.data, 'master.key');
    rmSync(key);
    const { code, err } = await Hosted.refused(settings());
    expect(code).toBe(1);
    expect(err).toContain(`The key ${key} is missing`);
  });

  it('says that its data folder cannot be written', async () => {
    writeFileSync(join(folder.path, 'data'), 'a file');
    const { code, err } = await Hosted.refused(settings());
    expect(code).toBe(1);
    expect(err).toMatch(/SVC_DATA: .* can't be made\. .* is no folder \(EEXIST\)\. Set SVC_HOME/);
  });

  it('says so beside the other problems where no folder can be made', async () => {
    const env = { SVC_DATA: '/proc/nope/data', SVC_LISTEN: 'nowhere' };
    const { code, err } = await Hosted.refused(env);
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toEqual([
      'svc: Some settings are invalid.',
      expect.stringMatching(/^ {2}SVC_LISTEN /),
      expect.stringMatching(/^ {2}SVC_DATA: \/proc\/nope can't be made\. .* \(ENOENT\)\./),
    ]);
  });

  it('makes no folder while its settings are wrong', async () => {
    const env = settings({ SVC_DATA: join(folder.path, 'a', 'data'), SVC_LISTEN: 'nowhere' });
    expect((await Hosted.refused(env)).err).not.toContain('SVC_DATA');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('begins nothing where a restore did not finish', async () => {
    const data = join(folder.path, 'data');
    const stage = join(data, 'restoring');
    mkdirSync(stage, { recursive: true });
    const { code, err } = await Hosted.refused(settings());
    expect(code).toBe(1);
    expect(err).toContain(`A restore did not finish in ${data}. Repeat it with`);
    expect(err).toContain(`remove ${stage}`);
    // Nothing that would stand in the way of the next restore.
    expect(readdirSync(data).toSorted()).toEqual(['lock', 'restoring']);
    rmSync(stage, { recursive: true });
    await start();
  });
});

describe('where it listens', () => {
  it('is told as one line of JSON, and in the log', async () => {
    const env = settings({ SVC_PUBLIC_URL: 'https://svc.example.com' });
    const hosted = await start(env);
    expect(hosted.status).toEqual({
      base_url: 'https://svc.example.com',
      mcp_url: 'https://svc.example.com/mcp',
      hooks_url: 'https://svc.example.com',
      listen: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      data: env['SVC_DATA'],
      version: VERSION,
      pid: hosted.child.pid,
    });
    await expect
      .poll(() => hosted.log.at(0), soon)
      .toMatchObject({
        msg: 'listening',
        base_url: 'https://svc.example.com',
      });
  });

  it('is told as a sentence on standard error without --json', async () => {
    const hosted = new Hosted(settings({ SVC_HOOKS_URL: 'https://hooks.example.com' }), []);
    running.push(hosted);
    await expect.poll(() => hosted.err, soon).toMatch(/listens/);
    const pid = String(hosted.child.pid);
    expect(hosted.err).toMatch(
      new RegExp(
        `^svc gateway ${VERSION} listens on http://127\\.0\\.0\\.1:\\d+, data in \\S+ \\(pid ${pid}\\)\\.\\n$`,
      ),
    );
    await expect.poll(() => hosted.log.at(0)?.['msg'], soon).toBe('listening');
    expect(hosted.log[0]?.['hooks_url']).toBe('https://hooks.example.com');
  });

  it('may be IPv6', async () => {
    const { status } = await start(settings({ SVC_LISTEN: '[::1]:0' }));
    expect(status.base_url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${status.base_url}/healthz`)).status).toBe(200);
  });

  it('may be a unix socket, which a group may use, and which is taken over from a dead process', async () => {
    const path = join(folder.path, 'gateway.sock');
    const env = settings({ SVC_LISTEN: `unix:${path}`, SVC_PUBLIC_URL: 'https://svc.example.com' });
    const first = await start(env);
    expect(first.status.listen).toBe(`unix:${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(await getOverSocket(path, '/metrics')).toEqual([200, expect.stringContaining('svc_')]);
    const other = { ...env, SVC_DATA: join(folder.path, 'other') };
    expect((await Hosted.refused(other)).err).toContain(`another process answers on ${path}`);
    await first.end('SIGKILL');
    await start(env);
    expect((await getOverSocket(path, '/readyz'))[0]).toBe(200);
  });

  it('does not remove a file that is no socket', async () => {
    const path = join(folder.path, 'precious');
    writeFileSync(path, 'precious');
    const env = settings({ SVC_LISTEN: `unix:${path}`, SVC_PUBLIC_URL: 'https://svc.example.com' });
    expect((await Hosted.refused(env)).err).toContain(`SVC_LISTEN: can't listen on ${path}`);
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });
});

describe('its files', () => {
  it('are for its user alone, and the key may lie elsewhere', async () => {
    const keys = join(folder.path, 'keys');
    mkdirSync(keys);
    const key = join(keys, 'master.key');
    const { status } = await start(settings({ SVC_MASTER_KEY_FILE: key }));
    for (const name of ['control.db', 'mode', 'lock']) {
      expect(statSync(join(status.data, name)).mode & 0o077).toBe(0);
    }
    expect(statSync(status.data).mode & 0o077).toBe(0);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(statSync(join(status.data, 'master.key'), { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe('health, readiness and metrics', () => {
  let place: ReturnType<typeof temporaryFolder>;
  let hosted: Awaited<ReturnType<typeof Hosted.start>>;
  let url = '';

  beforeAll(async () => {
    place = temporaryFolder();
    hosted = await Hosted.start({
      SVC_DATA: join(place.path, 'data'),
      SVC_LISTEN: '127.0.0.1:0',
      SVC_METRICS_TOKEN: TOKEN,
    });
    url = hosted.status.base_url;
  });
  afterAll(async () => {
    await hosted.end('SIGKILL');
    place.remove();
  });

  const get = (path: string, headers: Env = {}) => fetch(url + path, { headers });

  it('answers that it is alive', async () => {
    const answer = await get('/healthz');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'ok', version: VERSION });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await fetch(`${url}/healthz?x=1`, { method: 'HEAD' })).status).toBe(200);
    const refused = await fetch(`${url}/healthz`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is ready', async () => {
    const answer = await get('/readyz');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      status: 'ready',
      checks: { stores: 'open', disk: 'writable' },
    });
  });

  it('counts requests by route and status', async () => {
    await get('/v1/inbox');
    await get('/v1/kv/some%2Fkey');
    await get('/w/nonsense');
    await fetch(`${url}/w/nonsense`, { method: 'POST', body: '{}' });
    await get('/wp-login.php');
    await fetch(`${url}/v1/inbox`, { method: 'PROPFIND' });
    const text = await (await get('/metrics')).text();
    for (const line of [
      'svc_http_requests_total{method="GET",route="/v1/inbox",status="401"} 1',
      'svc_http_requests_total{method="GET",route="/v1/kv/{key}",status="401"} 1',
      'svc_http_requests_total{method="GET",route="none",status="404"} 1',
      'svc_http_requests_total{method="other",route="/v1/inbox",status="405"} 1',
      'svc_ingress_total{outcome="unknown"} 2',
      'svc_http_request_seconds_count{route="/v1/inbox"} 2',
      'svc_open_projects 0',
      'svc_waits 0',
      'svc_streams 0',
      'svc_writes_waiting 0',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds ');
    expect(text).toContain('process_resident_memory_bytes ');
    expect(text).not.toContain('nonsense');
  });

  it.each([
    ['a proxy', { 'x-forwarded-for': '192.0.2.1' }],
    ['a proxy that hides it', { via: '1.1 proxy' }],
    ['a wrong token', { 'x-forwarded-for': '192.0.2.1', authorization: `Bearer ${TOKEN}x` }],
    ['no bearer token', { 'x-forwarded-for': '192.0.2.1', authorization: TOKEN }],
  ])('shows no metrics to %s', async (_, headers) => {
    const answer = await get('/metrics', headers);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('shows the metrics to whoever has the token', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.1', authorization: `Bearer ${TOKEN}` };
    const answer = await get('/metrics', headers);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(await answer.text()).toContain('# TYPE svc_http_requests_total counter\n');
  });

  it('logs refused requests with who sent them, and not what nobody serves', async () => {
    await get('/v1/ledger?cursor=1', { 'x-forwarded-for': '203.0.113.1, 192.0.2.44' });
    await expect
      .poll(() => hosted.log.find(({ path }) => path === '/v1/ledger'), soon)
      .toMatchObject({
        level: 30,
        method: 'GET',
        path: '/v1/ledger',
        status: 401,
        client: '192.0.2.44',
        request_id: expect.stringMatching(/^[0-9a-z]{16}$/),
        ms: expect.any(Number),
      });
    expect(hosted.log.some(({ path }) => String(path).includes('wp-login'))).toBe(false);
  });

  it('counts and logs what callers ask until it is so as no failure', async () => {
    const headers = { 'content-type': 'application/json' };
    const email = JSON.stringify({ email: 'ana@example.com' });
    const begun = await fetch(`${url}/v1/auth/start`, { method: 'POST', headers, body: email });
    const { login_id } = (await begun.json()) as { login_id: string };
    const body = JSON.stringify({ login_id });
    const polled = await fetch(`${url}/v1/auth/poll`, { method: 'POST', headers, body });
    expect(polled.status).toBe(409);
    expect(await polled.json()).toMatchObject({ error: { code: 'LOGIN_NOT_VERIFIED' } });
    const lines = (await (await get('/metrics')).text()).split('\n');
    expect(lines.filter((line) => line.includes('"/v1/auth/poll",status'))).toEqual([
      'svc_http_requests_total{method="POST",route="/v1/auth/poll",status="expected"} 1',
    ]);
    await get('/v1/policy');
    const isLogged = (): boolean => hosted.log.some(({ path }) => path === '/v1/policy');
    await expect.poll(isLogged, soon).toBe(true);
    expect(hosted.log.some(({ path }) => path === '/v1/auth/poll')).toBe(false);
  });

  it('gives the log the request id of the answer', async () => {
    const answer = await get('/v1/usage');
    const id = answer.headers.get('x-request-id');
    const isLogged = (): boolean => hosted.log.some(({ request_id: logged }) => logged === id);
    await expect.poll(isLogged, soon).toBe(true);
  });
});

describe('a disk that cannot be written', () => {
  it('makes it not ready, and names the reason', async () => {
    const hosted = await start();
    symlinkSync('/nonexistent/folder/file', join(hosted.status.data, '.probe'));
    const answer = await fetch(`${hosted.status.base_url}/readyz`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await answer.json()).toEqual({
      status: 'not_ready',
      checks: { stores: 'open', disk: 'not writable: ENOENT' },
    });
    expect((await fetch(`${hosted.status.base_url}/healthz`)).status).toBe(200);
  });
});
