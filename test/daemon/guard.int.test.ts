import { mkdtempSync, rmSync } from 'node:fs';
import { request, type RequestOptions } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Listener, type Backend } from '../../daemon/listener.ts';
import { Admission } from '../../shared/admission/admission.ts';

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

const folder = mkdtempSync(join(tmpdir(), 'svc-guard-'));
const socketPath = join(folder, 's');
const backend: Backend = {
  admission: Admission.local(),
  fetch: (incoming) => new Response(`reached ${new URL(incoming.url).pathname}`),
  control: (incoming, response) => {
    if (!incoming.url?.startsWith('/_daemon/')) return false;
    response.end('control');
    return true;
  },
};
let tcp: Listener;
let unix: Listener;

beforeAll(async () => {
  tcp = await Listener.onLoopback(0, backend);
  unix = await Listener.onSocket(socketPath, backend);
});
afterAll(async () => {
  await Promise.all([tcp.close(100), unix.close(100)]);
  rmSync(folder, { recursive: true });
});

function send(options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ agent: false, ...options }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => (body += text));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
      );
    });
    call.on('error', reject);
    call.end();
  });
}

function overTcp(path: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> {
  return send({ host: '127.0.0.1', port: tcp.port, path, method, headers });
}

const own = (): string => `127.0.0.1:${tcp.port}`;

describe('the web inbox', () => {
  const forms = { origin: 'null', 'sec-fetch-site': 'same-origin' };

  it.each([
    ['/ui', {}],
    ['/ui/p/acme/requests?status=denied', { 'sec-fetch-site': 'cross-site' }],
    ['/ui/sign-in/abc', { referer: 'https://mail.example/', 'sec-fetch-site': 'cross-site' }],
    ['/ui/script.js?v=1', { 'sec-fetch-site': 'same-origin' }],
    ['/ui/p/acme/requests/req_1', forms],
  ])('looks itself at who comes to %s', async (path, headers) => {
    const answer = await overTcp(path, { host: own(), ...headers }, 'POST');
    expect(answer).toMatchObject({ status: 200, body: `reached ${path.split('?')[0]}` });
  });

  it('is there under the names of this machine only', async () => {
    const answer = await overTcp('/ui', { host: 'rebound.example' });
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('Host');
  });

  it.each(['/ui/../v1/whoami', '/ui/%2e%2e/v1/whoami', '/ui/./x', '/uix', '/ui.css', '/ui//x'])(
    'carries no page of others to %s',
    async (path) => {
      const answer = await overTcp(path, { host: own(), ...forms });
      expect(answer.status).toBe(403);
    },
  );

  it('makes its links for no page', async () => {
    const answer = await overTcp('/v1/ui/links', { host: own(), ...forms }, 'POST');
    expect(answer.status).toBe(403);
  });
});

describe('the loopback listener', () => {
  it.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])('answers as %s', async (name) => {
    const answer = await overTcp('/v1/whoami', { host: `${name}:${tcp.port}` });
    expect(answer).toMatchObject({ status: 200, body: 'reached /v1/whoami' });
  });

  it.each(['evil.example', 'localhost', '127.0.0.1:1', '127.0.0.1.nip.io', 'localhost.evil:80'])(
    'refuses the host "%s"',
    async (host) => {
      const answer = await overTcp('/v1/whoami', { host });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body)).toEqual({
        error: {
          code: 'VALIDATION_FAILED',
          message: 'The request is invalid.',
          hint: `Call this daemon as ${own()} or localhost:${tcp.port}.`,
          details: { fields: [{ path: 'Host', message: expect.any(String) }] },
        },
      });
      expect(answer.headers['x-request-id']).toMatch(/^\w+$/);
    },
  );

  it.each([
    ['an origin elsewhere', { origin: 'https://evil.example' }],
    ['another port of this machine', { origin: 'http://localhost:3000' }],
    ['https of this machine', { origin: 'https://127.0.0.1:1' }],
    ['a sandboxed page', { origin: 'null' }],
    ['an empty origin', { origin: '' }],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { 'sec-fetch-site': 'same-site' }],
    ['a link from elsewhere', { referer: 'https://evil.example/x' }],
    ['a referer that is no address', { referer: 'x' }],
  ])('refuses %s', async (_, headers) => {
    const answer = await overTcp('/v1/whoami', { host: own(), ...headers });
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('lets its own pages and people in', async () => {
    const headers = {
      host: own(),
      origin: `http://localhost:${tcp.port}`,
      referer: `http://${own()}/page`,
      'sec-fetch-site': 'same-origin',
    };
    expect((await overTcp('/x', headers)).status).toBe(200);
    expect((await overTcp('/x', { host: own(), 'sec-fetch-site': 'none' })).status).toBe(200);
  });

  it('answers no preflight with permission', async () => {
    const headers = { host: own(), origin: 'https://evil.example' };
    const answer = await overTcp('/v1/keys', headers, 'OPTIONS');
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).join()).not.toContain('access-control');
  });

  it('takes webhooks and payload links under the name of a tunnel', async () => {
    const host = 'abc.tunnel.example';
    expect((await overTcp('/w/token0123', { host }, 'POST')).status).toBe(200);
    const link = '/l/0123456789abcdef/evt_01/1795246429639/s-i_g';
    expect((await overTcp(link, { host, referer: 'https://chat.example/' })).status).toBe(200);
    for (const other of [
      '/f/0123456789abcdefToken',
      '/d/0123456789abcdef/cGF0aA/1/1795246429639/s-i_g',
    ]) {
      expect((await overTcp(other, { host, referer: 'https://chat.example/' })).status).toBe(200);
    }
    expect((await overTcp('/u/token0123', { host })).status).toBe(200);
    expect((await overTcp('/w/token0123', { host, origin: 'https://evil.example' })).status).toBe(
      403,
    );
    expect((await overTcp('/w/token0123', { host, 'sec-fetch-site': 'cross-site' })).status).toBe(
      403,
    );
  });

  it('lets people come to their pages from wherever the link is', async () => {
    const headers = {
      host: 'abc.tunnel.example',
      referer: 'https://mail.example/',
      'sec-fetch-site': 'cross-site',
    };
    for (const page of ['/a/0123456789abcdefToken', '/c/0123456789abcdefToken']) {
      expect((await overTcp(page, headers)).status).toBe(200);
      // A page that sends no referrer sends forms from the origin `null`.
      const form = { host: own(), origin: 'null', 'sec-fetch-site': 'same-origin' };
      expect((await overTcp(page, form, 'POST')).status).toBe(200);
    }
    expect((await overTcp('/telegram/updates', { host: headers.host }, 'POST')).status).toBe(200);
  });

  it.each([
    '/a/../v1/keys',
    '/c/%2e%2e/v1/keys',
    '/a/token/../../v1/keys',
    '/telegram/updates/../../v1/keys',
    '/w/../v1/keys',
    '/w/%2e%2e/v1/keys',
    '/w/..%2fv1/keys',
    '/w/\\..\\v1',
    '/l/../v1/keys',
    '/l/a/..;/v1',
    '/u/../v1/keys',
    '/f/../v1/keys',
    '/d/a/%2e%2e/v1/keys',
    '//w/token',
    '/w',
  ])('does not stretch that to %s', async (path) => {
    expect((await overTcp(path, { host: 'abc.tunnel.example' })).status).toBe(403);
  });

  it('has no routes of the daemon itself', async () => {
    const answer = await overTcp('/_daemon/status', { host: own() });
    expect(answer.body).toBe('reached /_daemon/status');
  });
});

describe('the socket', () => {
  it('needs no host and has the routes of the daemon', async () => {
    expect((await send({ socketPath, path: '/v1/x' })).body).toBe('reached /v1/x');
    expect((await send({ socketPath, path: '/_daemon/status' })).body).toBe('control');
  });

  it('refuses web pages', async () => {
    const answer = await send({
      socketPath,
      path: '/v1/x',
      headers: { origin: 'http://localhost' },
    });
    expect(answer.status).toBe(403);
  });
});

describe('a listener that is starting', () => {
  it('says so, with the time to try again', async () => {
    const starting = await Listener.onLoopback(0, { ...backend, fetch: null });
    const headers = { host: `127.0.0.1:${starting.port}` };
    const answer = await send({ host: '127.0.0.1', port: starting.port, path: '/', headers });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    await starting.close(100);
  });
});
