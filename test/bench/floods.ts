import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TeamProject } from '../helpers/team.ts';
import type { Flood, FloodRequest } from './child/flooder.ts';

const KB = 1024;

/** What is sent, wherever it goes. */
type FloodPart = Omit<Flood, 'to' | 'seconds'>;

export interface FloodCase {
  readonly name: string;
  readonly flood?: FloodPart | (() => Promise<FloodPart>);
  /** What is sent at the same time. */
  readonly beside?: FloodPart;
  /** What an operator or a member runs meanwhile, over and over. */
  readonly work?: () => Promise<unknown>;
  /** What a neighbour's p99 may be whatever the control's is. */
  readonly mostMs?: number;
  /** Whether it says that it comes from many addresses. */
  readonly isFromMany?: boolean;
}

export interface FloodSite {
  readonly url: string;
  readonly attacker: TeamProject;
}

export interface SignedInSite extends FloodSite {
  /** Of somebody who looks at the attacker's web inbox. */
  readonly cookie: string;
  /** All that the attacker's project may have besides its first key. */
  readonly keys: readonly string[];
}

/** Both gateways trust it. */
const PROXY = '127.0.0.2';
const OPENAPI: FloodRequest = { line: 'GET /v1/openapi.json' };

const JSON_TYPE = { 'Content-Type': 'application/json' };
/** A value of 120 KB. */
const VALUE = `"${'a'.repeat(120 * KB - 2)}"`;
const MCP = { ...JSON_TYPE, Accept: 'application/json, text/event-stream' };

/** Whether the run is to measure this: SVC_BENCH_FLOOD has the beginnings of some floods' names, to look at these alone. */
export function isAsked({ name }: FloodCase): boolean {
  const only = process.env['SVC_BENCH_FLOOD']?.split(',');
  return only?.some((one) => name.startsWith(one)) ?? true;
}

/** All that is sent in one round of a case. */
export async function floodsIn({
  flood,
  beside,
}: Pick<FloodCase, 'flood' | 'beside'>): Promise<FloodPart[]> {
  const first = typeof flood === 'function' ? await flood() : flood;
  return [first, beside].filter((one) => one !== undefined);
}

/** What one client or project sends to take a gateway from the others. */
export async function floodsOf(site: SignedInSite): Promise<FloodCase[]> {
  const { attacker, cookie, keys } = site;
  const key = bearer(attacker.apiKey);
  const hook = await source(site, { type: 'webhook', name: 'open' });
  const large = JSON.stringify({
    rows: Array.from({ length: 57_000 }, (_, id) => ({
      id,
      text: randomBytes(32).toString('hex'),
    })),
  });
  const mailHook = await source(site, { type: 'email', name: 'mail' });
  return [
    {
      name: 'one key from 1000 addresses × 200',
      isFromMany: true,
      flood: {
        connections: 200,
        from: PROXY,
        requests: fromMany({ line: 'GET /v1/ledger?limit=500', headers: key }),
      },
    },
    {
      name: 'openapi.json from 1000 addresses × 200',
      isFromMany: true,
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
          { line: 'POST /v1/auth/start', headers: JSON_TYPE, body: '{"email":"a@example.com"}' },
        ],
      },
    },
    { name: 'kv of 120 KB, 19 keys × 304', flood: { connections: 304, requests: keys.map(put) } },
    {
      name: 'webhooks of 5 MB × 8',
      flood: {
        connections: 8,
        requests: [{ line: `POST ${hook}`, headers: JSON_TYPE, body: large }],
      },
    },
    {
      name: '/ui/sign-in × 500',
      flood: { connections: 500, requests: [{ line: 'GET /ui/sign-in' }] },
    },
    { name: 'healthz × 500', flood: { connections: 500, requests: [{ line: 'GET /healthz' }] } },
    ...floodsByKey(key),
  ];
}

/** What whoever has a key can send to a gateway or a daemon. `key`: the headers of each request with it. */
export function floodsByKey(key: Readonly<Record<string, string>>): FloodCase[] {
  const json = { ...key, ...JSON_TYPE };
  const entries = { line: 'GET /v1/ledger?limit=500', headers: key };
  const mcp = (method: string, params = {}): FloodRequest => ({
    line: 'POST /mcp',
    headers: { ...key, ...MCP },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return [
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
      flood: {
        connections: 16,
        requests: [{ line: 'PUT /v1/kv/large', headers: json, body: VALUE }],
      },
    },
    { name: 'ledger?limit=500 × 100', flood: { connections: 100, requests: [entries] } },
    {
      name: 'ledger/verify × 40',
      flood: {
        connections: 40,
        requests: [{ line: 'POST /v1/ledger/verify', headers: json, body: '{}' }],
      },
    },
    {
      name: 'broken JSON × 100',
      flood: {
        connections: 100,
        requests: [{ line: 'PUT /v1/kv/b', headers: json, body: `{"a": ${'['.repeat(20_000)}` }],
      },
    },
    {
      name: 'MCP resources/list × 100',
      flood: { connections: 100, requests: [mcp('resources/list')] },
    },
    {
      name: 'MCP sessions × 100',
      flood: { connections: 100, requests: [mcp('initialize', CLIENT), mcp('tools/list')] },
    },
    {
      name: '10 waits and 64 calls of one key',
      flood: {
        connections: 64,
        requests: [{ line: 'PUT /v1/kv/w', headers: json, body: '1' }],
      },
      beside: { connections: 10, requests: [{ line: WAIT, headers: key }] },
    },
    {
      name: 'unknown addresses × 500',
      flood: { connections: 500, requests: [{ line: 'GET /nothing' }] },
    },
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
      flood: { connections: 100, requests: [entries], reads: 'nothing', ahead: 5 },
    },
    {
      name: 'slow readers of ledger?limit=500 × 500',
      flood: { connections: 500, requests: [entries], reads: 'slowly' },
    },
    {
      name: 'slow readers of openapi.json × 500',
      flood: { connections: 500, requests: [OPENAPI], reads: 'slowly' },
    },
  ];
}

/** A wait for what never comes. */
export const WAIT = 'GET /v1/inbox/wait?timeout_seconds=60&type=none';

const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'flood', version: '1' },
};

function put(apiKey: string, n: number): FloodRequest {
  const headers = { ...bearer(apiKey), ...JSON_TYPE };
  return { line: `PUT /v1/kv/large-${n}`, headers, body: VALUE };
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
export async function session(site: FloodSite): Promise<string> {
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

export async function manyKeys({ url, attacker }: FloodSite, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { api_key: apiKey } = await post(`${url}/v1/keys`, attacker, {
      name: `key-${n}`,
      scopes: ['disk', 'inbox:read'],
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

export function bearer(apiKey: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${apiKey}` };
}
