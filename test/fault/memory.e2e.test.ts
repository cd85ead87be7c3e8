import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshBuild, keyOf, runs, svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const MIB = 1024 * 1024;
const folder = temporaryFolder();
beforeAll(() => freshBuild());
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

describe('a heap of 128 MB', () => {
  it('holds under 64 bodies of 5 MB at once, of every kind', async () => {
    const { base_url, pid } = await svcUp(folder.path, {
      NODE_OPTIONS: '--max-old-space-size=128',
    });
    const args = readFileSync(`/proc/${pid}/environ`, 'utf8');
    expect(args).toContain('--max-old-space-size=128');
    const key = await keyOf(folder.path);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const added = await fetch(`${base_url}/v1/sources`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ type: 'webhook', name: 'open' }),
    });
    const { url } = (await added.json()) as { url: string };
    const statuses = await Promise.all(
      Array.from({ length: 64 }, async (_, n) => {
        const body = bodies[n % bodies.length]?.(n) ?? '';
        const type = { 'content-type': 'application/json', 'webhook-id': `body ${n}` };
        const response = await fetch(url, { method: 'POST', body, headers: type });
        await response.arrayBuffer();
        return response.status;
      }),
    );
    expect(runs(pid)).toBe(true);
    // Some may be told to come again; none fails otherwise.
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toContain(200);
    const whoami = await fetch(`${base_url}/v1/whoami`, { headers });
    expect(whoami.status).toBe(200);
    const list = await fetch(`${base_url}/v1/inbox?limit=100`, { headers });
    expect(list.status).toBe(200);
    const status = JSON.parse(await svc(folder.path, ['status', '--json'])) as { pid: number };
    expect(status.pid).toBe(pid);
  });
});
