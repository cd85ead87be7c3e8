import { randomBytes } from 'node:crypto';
import type { TeamProject } from '../helpers/team.ts';
import type { Flood, FloodRequest } from './child/flooder.ts';

const KB = 1024;
const MB = 1024 * KB;

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
    rows: Array.from({ length: 50_000 }, (_, id) => ({
      id,
      text: randomBytes(32).toString('hex'),
    })),
  }).slice(0, 5 * MB - 100);
  const puts = (some: readonly string[]) =>
    some.map((one, n) => ({
      line: `PUT /v1/kv/large-${n}`,
      headers: { ...bearer(one), ...json },
      body: value,
    }));
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
        requests: [{ line: `POST ${hook}`, headers: json, body: `${large}"}]}` }],
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
