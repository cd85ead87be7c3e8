import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyOf, runs, svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { sourceUseIn } from '../helpers/source-use.ts';

const ROUNDS = 20;
const SENDERS = 8;

const folder = temporaryFolder();
afterAll(async () => {
  await svc(folder.path, ['down']).catch(() => undefined);
  folder.remove();
});

interface Delivery {
  readonly name: string;
  readonly body: string;
}

/** Deliveries that the daemon acknowledged: it must never lose one. */
const accepted = new Map<string, string>();
const claimed = new Map<string, string>();
const acked = new Map<string, string>();

let base = '';
let key = '';
let hook = '';

async function send(delivery: Delivery): Promise<{ status: string; event_id: string } | null> {
  const response = await fetch(hook, {
    method: 'POST',
    body: delivery.body,
    headers: { 'webhook-id': delivery.name, 'content-type': 'application/json' },
  }).catch(() => null);
  if (response?.status !== 200) return null;
  return (await response.json().catch(() => null)) as { status: string; event_id: string } | null;
}

async function call(path: string, body?: object): Promise<Record<string, unknown> | null> {
  const response = await fetch(base + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => null);
  if (!response?.ok) return null;
  return (await response.json().catch(() => null)) as Record<string, unknown> | null;
}

/** The address changes with the port of each start. */
async function hookUrl(): Promise<string> {
  const sources = await call('/v1/sources');
  const [source] = (sources?.['items'] ?? []) as { url: string }[];
  if (!source) throw new Error('the source is gone');
  return source.url;
}

let count = 0;

/** Delivers, claims and acks until the daemon is gone; returns the deliveries it got no answer for. */
async function load(alive: () => boolean): Promise<Delivery[]> {
  const unanswered: Delivery[] = [];
  while (alive()) {
    count += 1;
    // Every eighth is large enough for a file of its own.
    const fill = count % 8 === 0 ? 'x'.repeat(300 * 1024) : '';
    const delivery = { name: `d${count}`, body: JSON.stringify({ n: count, fill }) };
    const answer = await send(delivery);
    if (!answer) {
      unanswered.push(delivery);
      break;
    }
    accepted.set(delivery.name, answer.event_id);
    const { event_id } = answer;
    const lease = await call('/v1/inbox/claim', { event_id, lease_seconds: 3600 });
    if (!lease) break;
    claimed.set(event_id, String(lease['lease_id']));
    if (count % 3 === 0) continue;
    const done = await call('/v1/inbox/ack', { event_id });
    if (done) acked.set(event_id, String(done['acked_at']));
  }
  return unanswered;
}

async function listAll(status: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const page = await call(`/v1/inbox?status=${status}&limit=100${cursor}`);
    if (!page) throw new Error(`could not list ${status}`);
    ids.push(...(page['items'] as { id: string }[]).map(({ id }) => id));
    if (page['next_cursor'] === null) return ids;
    cursor = `&cursor=${page['next_cursor'] as string}`;
  }
}

async function check(): Promise<void> {
  const byStatus = new Map<string, string>();
  for (const status of ['pending', 'claimed', 'done', 'failed', 'dead']) {
    for (const id of await listAll(status)) {
      expect(byStatus.has(id)).toBe(false);
      byStatus.set(id, status);
    }
  }
  const lost = [...accepted.values()].filter((id) => !byStatus.has(id));
  expect(lost).toEqual([]);
  expect([...acked.keys()].filter((id) => byStatus.get(id) !== 'done')).toEqual([]);
  const released = [...claimed.keys()].filter((id) => byStatus.get(id) === 'pending');
  expect(released).toEqual([]);
  // No delivery made two events: each event belongs to one name.
  expect(new Set(accepted.values()).size).toBe(accepted.size);
  // What is counted for the quota is what is stored, to the byte.
  const projects = join(folder.path, 'data', 'projects');
  const [project = ''] = readdirSync(projects);
  const { counted, stored } = sourceUseIn(join(projects, project, 'project.db'));
  expect(counted).toEqual(stored);
  const verified = await call('/v1/ledger/verify', {});
  expect(verified).toMatchObject({ ok: true, anchored: true, first_bad_seq: null });
}

describe('kill -9 under load', () => {
  it(`loses nothing that was acknowledged and makes nothing twice, ${ROUNDS} times`, async () => {
    let { base_url, pid } = await svcUp(folder.path);
    base = base_url;
    key = await keyOf(folder.path);
    await call('/v1/sources', { type: 'webhook', name: 'load' });
    for (let round = 0; round < ROUNDS; round += 1) {
      hook = await hookUrl();
      let alive = true;
      const senders = Array.from({ length: SENDERS }, () => load(() => alive));
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 300));
      process.kill(pid, 'SIGKILL');
      alive = false;
      const unanswered = (await Promise.all(senders)).flat();
      await expect.poll(() => runs(pid), { interval: 5 }).toBe(false);

      ({ base_url, pid } = await svcUp(folder.path));
      base = base_url;
      hook = await hookUrl();
      // Providers repeat a delivery without an answer: the daemon must take it once, then or now.
      for (const delivery of unanswered) {
        const answer = await send(delivery);
        expect(answer).not.toBeNull();
        if (answer) accepted.set(delivery.name, answer.event_id);
        expect((await send(delivery))?.status).toBe('duplicate');
      }
      const [name = '', event_id] = [...accepted].at(-1) ?? [];
      expect(await send({ name, body: '{"n":-1}' })).toEqual({ status: 'duplicate', event_id });
      await check();
    }
    expect(accepted.size).toBeGreaterThan(ROUNDS);
    expect(acked.size).toBeGreaterThan(ROUNDS);
    // An acknowledged ack repeats with the time it had.
    for (const [event_id, at] of [...acked].slice(-20)) {
      expect(await call('/v1/inbox/ack', { event_id })).toMatchObject({ acked_at: at });
    }
    const doctor = await svc(folder.path, ['doctor', '--json']);
    expect(doctor).toContain('"ok"');
  });
});
