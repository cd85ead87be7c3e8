import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, runs, svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const MIB = 1024 * 1024;
const folder = temporaryFolder();
afterAll(async () => {
  await svc(folder.path, ['down']).catch(() => undefined);
  folder.remove();
});

/** Text, long strings, many objects and many numbers. */
const bodies: ((n: number) => string)[] = [
  (n) => `${n}${'x'.repeat(5 * MIB - 10)}`,
  (n) => JSON.stringify({ n, text: 'é'.repeat(2_400_000) }),
  (n) => `[${n}${',{"a":1}'.repeat(490_000)}]`,
  (n) => `[${n}${',12345678'.repeat(550_000)}]`,
];

let base = '';
let pid = 0;
let headers: Record<string, string> = {};

/** Sends `count` requests at once. Returns their statuses, in order. */
function statusesOf(count: number, send: (n: number) => Promise<Response>): Promise<number[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const response = await send(n);
      await response.arrayBuffer();
      return response.status;
    }),
  );
}

async function isWell(): Promise<void> {
  expect(runs(pid)).toBe(true);
  expect((await fetch(`${base}/v1/whoami`, { headers })).status).toBe(200);
  expect((await fetch(`${base}/v1/inbox?limit=100`, { headers })).status).toBe(200);
  const status = JSON.parse(await svc(folder.path, ['status', '--json'])) as { pid: number };
  expect(status.pid).toBe(pid);
}

describe('a heap of 128 MB', () => {
  beforeAll(async () => {
    const up = await svcUp(folder.path, { NODE_OPTIONS: '--max-old-space-size=128' });
    ({ base_url: base, pid } = up);
    const key = await keyOf(folder.path);
    headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  });

  it('holds under 64 bodies of 5 MB at once, of every kind', async () => {
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('--max-old-space-size=128');
    // Made beforehand: a busy process doesn't notice that a kept connection was closed.
    const made = Array.from({ length: 64 }, (_, n) => bodies[n % bodies.length]?.(n) ?? '');
    const source = JSON.stringify({ type: 'webhook', name: 'open' });
    const added = await fetch(`${base}/v1/sources`, { method: 'POST', headers, body: source });
    const { url } = (await added.json()) as { url: string };
    const statuses = await statusesOf(64, (n) => {
      const body = made[n] ?? '';
      const type = { 'content-type': 'application/json', 'webhook-id': `body ${n}` };
      return fetch(url, { method: 'POST', body, headers: type });
    });
    // Some may get 503; none may fail otherwise.
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toContain(200);
    await isWell();
  });

  const text = 'x'.repeat(200 * 1024);
  const file = Buffer.alloc(MIB - 1, 7).toString('base64');
  const calls: [string, string, string, number, unknown][] = [
    [
      'mails of 400 KB',
      'POST',
      '/v1/emails',
      202,
      {
        to: ['ana@example.com'],
        subject: 'x',
        text,
        html: text,
        reply_to_inbox: false,
        wait_seconds: 0,
      },
    ],
    [
      'tool calls of 1.4 MB',
      'POST',
      '/mcp',
      200,
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'file_put', arguments: { path: 'tool', content_base64: file } },
      },
    ],
    [
      '500,000 empty objects',
      'POST',
      '/v1/emails',
      400,
      { to: Array.from({ length: 500_000 }, () => ({})) },
    ],
  ];

  it.each(calls)(
    'holds under 64 calls at once with %s',
    async (_what, method, path, good, input) => {
      // Made once: a busy process doesn't notice that a kept connection was closed.
      const body = JSON.stringify(input);
      const accept = 'application/json, text/event-stream';
      const init = { method, headers: { ...headers, accept }, body };
      const statuses = await statusesOf(64, () => fetch(base + path, init));
      expect(statuses).toContain(good);
      // Refusals are fine; nothing may break or hang.
      expect(statuses.filter((status) => status >= 500 && status !== 503)).toEqual([]);
      await isWell();
    },
  );
});
