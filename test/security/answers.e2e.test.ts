import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';
import { Hosted } from '../gateway/server/hosted.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { askNaming } from '../helpers/named-hosts.ts';
import { rawRequest } from '../helpers/raw-http.ts';
import { readPage } from '../helpers/reading.ts';

const PUBLIC = 'https://svc.example.com';

let folder: ReturnType<typeof temporaryFolder>;
let hosted: Awaited<ReturnType<typeof Hosted.start>>;
let plain: Awaited<ReturnType<typeof Hosted.start>>;
let url = '';

beforeAll(async () => {
  folder = temporaryFolder();
  const start = (name: string, env: Record<string, string>) =>
    Hosted.start({ SVC_DATA: join(folder.path, name), SVC_LISTEN: '127.0.0.1:0', ...env });
  hosted = await start('secure', { SVC_PUBLIC_URL: PUBLIC });
  plain = await start('plain', {});
  url = hosted.status.listen;
});
afterAll(async () => {
  await hosted.end('SIGKILL');
  await plain.end('SIGKILL');
  folder.remove();
});

const TOKEN = '0123456789abcdef'.padEnd(40, 'A');

/** Of each operation, each door and each kind of refusal. */
const addresses: readonly (readonly [string, string])[] = [
  ...operations.map(({ rest }) => [rest.method, rest.path.replaceAll(/\{\w+\}/g, 'x')] as const),
  ...['w', 'u', 'f', 'a', 'c', 's'].map((letter) => ['GET', `/${letter}/${TOKEN}`] as const),
  ['GET', '/l/0123456789abcdef/evt_x/1/x'],
  ['GET', '/m/0123456789abcdef/evt_x/1/x'],
  ['GET', '/d/0123456789abcdef/eA/1/1/x'],
  ['POST', '/mcp'],
  ['GET', '/mcp'],
  ['GET', '/v1/openapi.json'],
  ['POST', '/v1/auth/start'],
  ['POST', '/v1/ui/links'],
  ['GET', '/v1/replica/x/info'],
  ['GET', '/ui'],
  ['GET', '/ui/sign-in'],
  ['GET', '/ui/authorize'],
  ['GET', '/.well-known/oauth-protected-resource/mcp'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['POST', '/oauth/token'],
  ['POST', '/oauth/register'],
  ['POST', '/oauth/revoke'],
  ['GET', '/ui/style.css'],
  ['GET', '/ui/script.js'],
  ['GET', '/ui/live'],
  ['GET', '/ui/nowhere'],
  ['GET', '/healthz'],
  ['GET', '/readyz'],
  ['GET', '/metrics'],
  ['GET', '/'],
  ['GET', '/nowhere'],
];

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('every answer', () => {
  it.each(addresses)(
    'to %s %s is what it says, and is run and framed by no page',
    async (...at) => {
      const [method, path] = at;
      const { headers, status, text } = await askNaming(url, path, ['evil.example'], {
        method,
        headers: { origin: 'https://evil.example' },
      });
      const policy = String(headers['content-security-policy'] ?? '');
      expect({
        named: text.includes('evil.example'),
        status: status >= 200 && status < 500,
        nosniff: headers['x-content-type-options'] ?? null,
        nothingElse: policy.startsWith("default-src 'none'"),
        base: policy.includes("base-uri 'none'"),
        framed: policy.includes("frame-ancestors 'none'"),
        transport: headers['strict-transport-security'] ?? null,
        shared: headers['access-control-allow-origin'] ?? null,
        program: headers['server'] ?? headers['x-powered-by'] ?? null,
      }).toEqual({
        named: false,
        status: true,
        nosniff: 'nosniff',
        nothingElse: true,
        base: true,
        framed: true,
        transport: 'max-age=31536000',
        shared: null,
        program: null,
      });
    },
  );

  it('with a body names its kind, and the charset of text', async () => {
    for (const [method, path] of addresses) {
      const answer = await fetch(url + path, { method, redirect: 'manual' });
      const body = await answer.text();
      const type = answer.headers.get('content-type') ?? '';
      const isNamed =
        type === 'application/json' ? isJson(body) : /^text\/.*charset=utf-8/i.test(type);
      expect([path, type, isNamed || body === '']).toEqual([path, type, true]);
    }
  });

  it('promises no TLS where none was set up', async () => {
    const answer = await fetch(`${plain.status.listen}/healthz`);
    expect(answer.headers.get('strict-transport-security')).toBeNull();
  });

  it('sends nobody from http to https: a key that went out in clear is refused, not led on', async () => {
    const statuses = new Set<number>();
    for (const [method, path] of addresses) {
      const { status } = await fetch(plain.status.listen + path, { method, redirect: 'manual' });
      statuses.add(status);
    }
    expect([...statuses].filter((status) => status >= 300 && status < 400)).toEqual([]);
  });

  it('lets no preflight through', async () => {
    const { headers } = await fetch(`${url}/v1/keys`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('what nobody serves', () => {
  it.each([
    '/.git/config',
    '/.env',
    '/package.json',
    '/dist/',
    '/node_modules/',
    '/data/control.db',
  ])('is not there: %s', async (path) => {
    const answer = await fetch(url + path);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { code: 'NOT_FOUND' } },
    ]);
  });

  it('is TRACE, which would show a browser the headers it may not see', async () => {
    for (const path of ['/', '/v1/keys', '/ui', `/w/${TOKEN}`]) {
      const { status, text } = await rawRequest(url + path, [
        'TRACE {path} HTTP/1.1',
        'Cookie: shown=again',
      ]);
      expect([path, status >= 400, text.includes('shown=again')]).toEqual([path, true, false]);
    }
  });

  it('is a request with two lengths, of which a proxy might believe the other', async () => {
    for (const length of ['Content-Length: 4', 'Content-Length: 5\r\nContent-Length: 6']) {
      const head = ['POST {path} HTTP/1.1', 'Transfer-Encoding: chunked', length];
      const { status, text } = await rawRequest(`${url}/v1/keys`, head, [Buffer.from('0\r\n\r\n')]);
      expect([length, status, text]).toEqual([
        length,
        400,
        expect.stringContaining('\r\nConnection: close\r\n'),
      ]);
    }
  });
});

describe('the way in', () => {
  it('is TLS 1.2 or 1.3 in the configurations of a proxy that we give', () => {
    for (const path of ['gateway/deploy/proxy.conf', 'gateway/deploy/nginx.conf']) {
      const text = readFileSync(path, 'utf8');
      const listening = text.match(/^ *listen .*$/gm) ?? [];
      expect([path, listening.map((line) => line.trim())]).toEqual([path, ['listen 443 ssl;']]);
      expect(text).toContain('ssl_protocols TLSv1.2 TLSv1.3;');
    }
    expect([tls.DEFAULT_MIN_VERSION, tls.DEFAULT_MAX_VERSION]).toEqual(['TLSv1.2', 'TLSv1.3']);
  });
});

describe('the log as it is by default', () => {
  it('is one line of JSON for each thing, whatever was asked', async () => {
    const forged = '{"level":60,"msg":"forged"}';
    const asked = [
      ['GET {path}%0d%0a%7b%22level%22:60%7d HTTP/1.1'],
      [`GET {path}?x=${encodeURIComponent(`\n${forged}`)} HTTP/1.1`],
      ['GET {path} HTTP/1.1', `X-Forwarded-For: ${forged}`],
      ['GET {path} HTTP/1.1', `User-Agent: \u2028${forged}`],
      ['GET {path} HTTP/1.1', `Authorization: Bearer ${forged}`],
    ];
    for (const head of asked) await rawRequest(`${url}/v1/inbox`, head);
    await expect
      .poll(() => hosted.log.filter(({ path }) => path === '/v1/inbox').length)
      .toBeGreaterThanOrEqual(asked.length - 1);
    const lines = hosted.out.trim().split('\n');
    expect(lines.filter((line) => !isJson(line))).toEqual([]);
    expect(hosted.log.filter(({ level, msg }) => level === 60 || msg === 'forged')).toEqual([]);
  });

  it('tells of sign-ins that go on and of those that are refused, with who and when', async () => {
    const page = await (await fetch(`${url}/ui/sign-in`)).text();
    const csrf = /name="csrf" value="([^"]*)"/.exec(page)?.[1] ?? '';
    await readPage(url);
    const send = (path: string, fields: Record<string, string>) =>
      fetch(url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'x-forwarded-for': '192.0.2.77' },
        body: new URLSearchParams(fields),
      });
    const email = 'ana@example.com';
    expect((await send('/ui/sign-in', { csrf, email })).status).toBe(200);
    expect((await send('/ui/sign-in', { csrf: 'x', email })).status).toBe(403);
    const logged = () =>
      hosted.log
        .filter(({ client, path }) => client === '192.0.2.77' && path === '/ui/sign-in')
        .map(({ level, status, method }) => [level, status, method]);
    await expect.poll(logged).toEqual([
      [30, 200, 'POST'],
      [30, 403, 'POST'],
    ]);
    for (const { time } of hosted.log) expect(time).toBeTypeOf('number');
    expect(hosted.out).not.toContain(email);
    expect(existsSync(join(folder.path, 'secure', 'outbox'))).toBe(true);
  });
});
