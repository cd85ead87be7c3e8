import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, runs, svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const ROUNDS = 8;
const SENDERS = 6;
const ENV = { SVC_CALLBACK_ALLOW: '127.0.0.0/8' };

const folder = temporaryFolder();
let receiver: Server;
/** Received events by webhook-id: every attempt must carry the same event. */
const received = new Map<string, Set<string>>();
let secret = '';
let forged = 0;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const headers = request.headers as Record<string, string>;
      try {
        new Webhook(secret).verify(body, headers);
      } catch {
        forged += 1;
      }
      const id = headers['webhook-id'] ?? '';
      const { id: eventId } = JSON.parse(body) as { id: string };
      received.set(id, (received.get(id) ?? new Set<string>()).add(eventId));
      // Slow enough that a kill often falls between the push and its record.
      setTimeout(() => response.end('ok'), 5);
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await svc(folder.path, ['down']).catch(() => undefined);
  receiver.closeAllConnections();
  receiver.close();
  folder.remove();
});

/** Sends until the daemon is gone; returns the ids of the acknowledged events. */
async function deliver(hook: string, alive: () => boolean): Promise<string[]> {
  const accepted: string[] = [];
  while (alive()) {
    const body = JSON.stringify({ n: Math.random() });
    const answer = await fetch(hook, { method: 'POST', body }).catch(() => null);
    if (answer?.status !== 200) break;
    const text = await answer.text().catch(() => '');
    if (text === '') break;
    accepted.push((JSON.parse(text) as { event_id: string }).event_id);
  }
  return accepted;
}

describe('kill -9 between a commit and its push', () => {
  it(`still delivers, under the same webhook-id, ${ROUNDS} times`, async () => {
    const up = await svcUp(folder.path, ENV);
    let { pid } = up;
    const key = await keyOf(folder.path);
    const call = async (base: string, path: string, body?: object): Promise<unknown> => {
      const answer = await fetch(base + path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return answer.json();
    };
    const { port } = receiver.address() as AddressInfo;
    await call(up.base_url, '/v1/sources', { type: 'webhook', name: 'load' });
    const callback_url = `http://127.0.0.1:${port}/`;
    ({ secret } = (await call(up.base_url, '/v1/routes', { callback_url })) as { secret: string });
    expect(secret).toMatch(/^whsec_/);

    const accepted: string[] = [];
    let base = up.base_url;
    for (let round = 0; round < ROUNDS; round += 1) {
      const sources = (await call(base, '/v1/sources')) as { items: { url: string }[] };
      const hook = sources.items[0]?.url ?? '';
      let alive = true;
      const senders = Array.from({ length: SENDERS }, () => deliver(hook, () => alive));
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 250));
      process.kill(pid, 'SIGKILL');
      alive = false;
      accepted.push(...(await Promise.all(senders)).flat());
      await expect.poll(() => runs(pid), { interval: 5 }).toBe(false);
      const again = await svcUp(folder.path, ENV);
      ({ pid, base_url: base } = again);
    }
    expect(accepted.length).toBeGreaterThan(ROUNDS);
    const missing = (): string[] => accepted.filter((id) => !received.has(id));
    await expect.poll(missing, { interval: 50 }).toEqual([]);
    // Receivers spot repeats by this id, so every attempt must carry the event's.
    for (const [id, eventIds] of received) expect([...eventIds]).toEqual([id]);
    expect(forged).toBe(0);
    const done = async (): Promise<number> => {
      const pending = (await call(base, '/v1/inbox?limit=1')) as { items: unknown[] };
      return pending.items.length;
    };
    await expect.poll(done, { interval: 50 }).toBe(0);
    const verified = await call(base, '/v1/ledger/verify', {});
    expect(verified).toMatchObject({ ok: true });
  });
});
