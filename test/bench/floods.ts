import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TeamProject } from '../helpers/team.ts';
import type { Flood, FloodRequest } from './child/flooder.ts';

const KB = 1024;

export interface FloodCase {
  readonly name: string;
  readonly flood: Omit<Flood, 'port' | 'seconds'>;
  /** What a neighbour's p99 may be whatever the control's is. */
  readonly mostMs?: number;
}

interface FloodSite {
  readonly url: string;
  readonly attacker: TeamProject;
}

/** Both gateways trust it. */
const PROXY = '127.0.0.2';
const OPENAPI: FloodRequest = { line: 'GET /v1/openapi.json' };

/** What one client or project sends to take a gateway from the others. */
export async function floodsOf(site: FloodSite): Promise<FloodCase[]> {
  const { attacker } = site;
  const key = bearer(attacker.apiKey);
  const keys = await manyKeys(site, 19);
  const json = { 'Content-Type': 'application/json' };
  const hook = await source(site, { type: 'webhook', name: 'open' });
  const value = `"${'a'.repeat(120 * KB - 2)}"`;
  const large = JSON.stringify({
    rows: Array.from({ length: 57_000 }, (_, id) => ({
      id,
      text: randomBytes(32).toString('hex'),
    })),
  });
  const puts = (some: readonly string[]) =>
    some.map((one, n) => ({
      line: `PUT /v1/kv/large-${n}`,
      headers: { ...bearer(one), ...json },
      body: value,
    }));
  const mailHook = await source(site, { type: 'email', name: 'mail' });
  const cookie = await session(site);
  return [
    {
      name: 'one key from 1000 addresses × 200',
      flood: {
        connections: 200,
        from: PROXY,
        requests: fromMany({ line: 'GET /v1/ledger?limit=500', headers: key }),
      },
    },
    {
      name: 'openapi.json from 1000 addresses × 200',
      flood: { connections: 200, from: PROXY, requests: fromMany(OPENAPI) },
    },
    {
      name: 'mails of 10,000 parts × 8',
      flood: { connections: 8, requests: [{ line: `POST ${mailHook}`, body: mailOf(10_000) }] },
    },
    {
      name: 'searches × 8',
      flood: {
        connections: 8,
        requests: [
          { line: 'GET /ui/p/team-0/events?q=nothing+like+it', headers: { Cookie: cookie } },
        ],
      },
    },
    {
      name: 'sign-ins × 100',
      flood: {
        connections: 100,
        requests: [
          { line: 'POST /v1/auth/start', headers: json, body: '{"email":"a@example.com"}' },
        ],
      },
    },
    ...[100, 500].map((connections) => ({
      name: `openapi.json × ${connections}`,
      flood: { connections, requests: [OPENAPI] },
    })),
    {
      name: 'openapi.json × 2000',
      flood: { connections: 2000, requests: [OPENAPI] },
      mostMs: 1000,
    },
    {
      name: 'openapi.json, a connection each × 100',
      flood: { connections: 100, requests: [OPENAPI], close: true },
    },
    {
      name: 'kv of 120 KB, one key × 16',
      flood: { connections: 16, requests: puts([attacker.apiKey]) },
    },
    { name: 'kv of 120 KB, 19 keys × 304', flood: { connections: 304, requests: puts(keys) } },
    {
      name: 'ledger?limit=500 × 100',
      flood: { connections: 100, requests: [{ line: 'GET /v1/ledger?limit=500', headers: key }] },
    },
    {
      name: 'ledger/verify × 40',
      flood: {
        connections: 40,
        requests: [{ line: 'POST /v1/ledger/verify', headers: { ...key, ...json }, body: '{}' }],
      },
    },
    {
      name: 'webhooks of 5 MB × 8',
      flood: {
        connections: 8,
        requests: [{ line: `POST ${hook}`, headers: json, body: large }],
      },
    },
    {
      name: 'broken JSON × 100',
      flood: {
        connections: 100,
        requests: [
          {
            line: 'PUT /v1/kv/b',
            headers: { ...key, ...json },
            body: `{"a": ${'['.repeat(20_000)}`,
          },
        ],
      },
    },
    {
      name: 'MCP resources/list × 100',
      flood: {
        connections: 100,
        requests: [
          {
            line: 'POST /mcp',
            headers: { ...key, ...json, Accept: 'application/json, text/event-stream' },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list', params: {} }),
          },
        ],
      },
    },
    {
      name: '/ui/sign-in × 500',
      flood: { connections: 500, requests: [{ line: 'GET /ui/sign-in' }] },
    },
    {
      name: 'unknown addresses × 500',
      flood: { connections: 500, requests: [{ line: 'GET /nothing' }] },
    },
    { name: 'healthz × 500', flood: { connections: 500, requests: [{ line: 'GET /healthz' }] } },
    {
      name: 'HEAD openapi.json × 500',
      flood: { connections: 500, requests: [{ line: 'HEAD /nothing' }] },
    },
    {
      name: 'headers of 15 KB × 100',
      flood: {
        connections: 100,
        requests: [{ line: 'GET /v1/whoami', headers: { ...key, 'X-A': 'a'.repeat(15_000) } }],
      },
    },
    {
      name: 'openapi.json, 50 ahead × 20',
      flood: { connections: 20, requests: [OPENAPI], ahead: 50 },
    },
    {
      name: 'ledger?limit=500, never read × 100',
      flood: {
        connections: 100,
        requests: [{ line: 'GET /v1/ledger?limit=500', headers: key }],
        unread: true,
        ahead: 5,
      },
    },
  ];
}

/** As a trusted proxy passes it on from a thousand clients. */
function fromMany(one: FloodRequest): FloodRequest[] {
  return Array.from({ length: 1000 }, (_, n) => ({
    ...one,
    headers: { ...one.headers, 'X-Forwarded-For': `10.0.${n >> 8}.${n & 255}` },
  }));
}

function mailOf(parts: number): string {
  const head = [
    'From: a@example.com',
    'To: b@example.com',
    'Subject: parts',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
  ];
  return `${head.join('\r\n')}\r\n\r\n${'--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(parts)}--b--\r\n`;
}

/** Signs in to the web inbox, and gives it events to search. */
async function session(site: FloodSite): Promise<string> {
  const hook = await source(site, { type: 'webhook', name: 'searched' });
  for (let n = 0; n < 200; n += 1) {
    const text = randomBytes(8000).toString('base64');
    await fetch(site.url + hook, { method: 'POST', body: JSON.stringify({ n, text }) });
  }
  const { url } = await post(`${site.url}/v1/ui/links`, site.attacker, {});
  const page = await (await fetch(String(url))).text();
  // A button that is pressed within a second of the page doesn't count.
  await sleep(1500);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const entered = await fetch(String(url), {
    method: 'POST',
    headers: { origin: site.url, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ csrf }).toString(),
    redirect: 'manual',
  });
  return (entered.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
}

async function manyKeys({ url, attacker }: FloodSite, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { api_key: apiKey } = await post(`${url}/v1/keys`, attacker, {
      name: `key-${n}`,
      scopes: ['disk'],
    });
    made.push(String(apiKey));
  }
  return made;
}

async function source({ url, attacker }: FloodSite, wanted: object): Promise<string> {
  const { url: hook } = await post(`${url}/v1/sources`, attacker, wanted);
  return new URL(String(hook)).pathname;
}

async function post(
  url: string,
  { apiKey }: TeamProject,
  body: object,
): Promise<Record<string, unknown>> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

function bearer(apiKey: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${apiKey}` };
}
