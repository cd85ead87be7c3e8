import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventQueueRow } from '../../../../shared/rules/inbox/event-state.ts';
import { TestGateway } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';

interface Waited {
  readonly event: { id: string; type: string; attempts: number } | null;
  readonly error?: { code: string };
}

const SOON = { interval: 5 } as const;

let gateway: TestGateway;
let url: string;
let deliveries = 0;
beforeEach(async () => {
  gateway = await TestGateway.start();
  url = await gateway.addSource({ name: 'open' });
});
afterEach(() => gateway.stop());

const wait = (query: string, options: { key?: string; signal?: AbortSignal } = {}) =>
  fetch(`${gateway.url}/v1/inbox/wait?${query}`, {
    headers: { authorization: `Bearer ${options.key ?? gateway.apiKey}` },
    ...(options.signal && { signal: options.signal }),
  }).then(async (response) => ({
    status: response.status,
    body: (await response.json()) as Waited,
  }));

async function deliver(): Promise<string> {
  deliveries += 1;
  return String((await gateway.deliver(url, `body ${deliveries}`)).body['event_id']);
}

async function project() {
  const found = await gateway.gateway.projects.find(gateway.projectId);
  if (!found) throw new Error('no project');
  return found;
}

const dead = async () =>
  (await gateway.call<{ items: { id: string }[] }>('GET', '/v1/inbox?status=dead')).body.items;

/** Waits that are listening just now. */
const waiting = async (count: number): Promise<void> => {
  const { waits } = await project();
  await expect.poll(() => waits.size, SOON).toBe(count);
};

/** Leases and backoffs last 30 s at least: this one ends soon, and is written as the operations write it. */
async function dueSoon(id: string, change: Partial<EventQueueRow>, inMs: number): Promise<void> {
  const found = await project();
  const due_at = Date.now() + inMs;
  await writerOf(found).write(async ({ events }) => {
    const row = await events.find(id);
    if (!row) throw new Error('no event');
    const lease = { lease_id: 'lse_test', holder_key_id: 'key_test', routed: false };
    await events.setQueue(
      row.seq,
      { ...lease, status: 'claimed', attempts: 0, ...change, due_at },
      null,
    );
  });
  found.atLatest(due_at);
}

describe('a wait', () => {
  it('is woken when a lease runs out, though nobody calls', async () => {
    const id = await deliver();
    const before = performance.now();
    await dueSoon(id, { status: 'claimed' }, 400);
    const answer = await wait('timeout_seconds=120');
    expect(answer.body.event).toMatchObject({ id, attempts: 1 });
    // The lease began to run out before it was written down.
    expect(performance.now() - before).toBeGreaterThan(300);
    const ledger = await gateway.call<{ items: { subject: string }[] }>(
      'GET',
      '/v1/ledger?op=lease.expired',
    );
    expect(ledger.body.items).toMatchObject([{ subject: id }]);
  });

  it('is woken when a backoff ends', async () => {
    const id = await deliver();
    await dueSoon(id, { status: 'failed', attempts: 2, lease_id: null, holder_key_id: null }, 400);
    const answer = await wait('timeout_seconds=120');
    expect(answer.body.event).toMatchObject({ id, attempts: 2 });
    const ledger = await gateway.call<{ items: unknown[] }>('GET', '/v1/ledger?op=event.retried');
    expect(ledger.body.items).toHaveLength(1);
  });

  it('is not woken by an event that dies of its fifth lease', async () => {
    const id = await deliver();
    await dueSoon(id, { status: 'claimed', attempts: 4 }, 100);
    expect((await wait('timeout_seconds=1')).body).toEqual({ event: null });
    await expect.poll(dead, SOON).toMatchObject([{ id, attempts: 5 }]);
  });

  it('takes the time it was asked to, and ends before a longer one', async () => {
    const before = performance.now();
    const long = wait('timeout_seconds=120');
    await waiting(1);
    for (const seconds of [1, 2]) {
      const answer = await wait(`timeout_seconds=${seconds}`);
      expect(answer).toEqual({ status: 200, body: { event: null } });
    }
    expect(performance.now() - before).toBeGreaterThan(2900);
    await waiting(1);
    await deliver();
    expect((await long).body.event).not.toBeNull();
  });

  it('answers without a wait when there is something, and claims nothing', async () => {
    const id = await deliver();
    expect((await wait('timeout_seconds=120')).body.event?.id).toBe(id);
    expect((await wait('timeout_seconds=120')).body.event?.id).toBe(id);
  });

  it('hears only of what it asked for', async () => {
    const other = await gateway.addSource({ name: 'other' });
    const bySource = wait('source=other&timeout_seconds=20');
    await waiting(1);
    const byType = wait('type=invoice.*&timeout_seconds=1');
    await waiting(2);
    await deliver();
    expect((await byType).body.event).toBeNull();
    const { body } = await gateway.deliver(other, 'here');
    expect((await bySource).body.event?.id).toBe(body['event_id']);
  });

  it('wakes all that wait for the one event, of whom one claim wins', async () => {
    const waits = Array.from({ length: 10 }, () => wait('timeout_seconds=20'));
    await waiting(10);
    const id = await deliver();
    const answers = await Promise.all(waits);
    expect(answers.map(({ body }) => body.event?.id)).toEqual(Array.from({ length: 10 }, () => id));
    const claims = await Promise.all(
      answers.map(() => gateway.call('POST', '/v1/inbox/claim', { body: { event_id: id } })),
    );
    expect(claims.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('follows a stream by the event before', async () => {
    const first = await deliver();
    const next = wait(`after=${first}&timeout_seconds=20`);
    await waiting(1);
    const second = await deliver();
    expect((await next).body.event?.id).toBe(second);
    const unknown = await wait(`after=evt_${'0'.repeat(26)}&timeout_seconds=1`);
    expect(unknown).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_FAILED' } } });
  });
});

describe('the number of waits', () => {
  it('is 10 by key, and a wait that was given up frees its place at once', async () => {
    const controllers = Array.from({ length: 10 }, () => new AbortController());
    const waits = controllers.map(({ signal }) =>
      wait('timeout_seconds=60', { signal }).catch(() => null),
    );
    await waiting(10);
    const refused = await wait('timeout_seconds=60');
    const details = { kind: 'key', limit: 10, used: 10, retry_after: 5 };
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'TOO_MANY_WAITS', details } },
    });
    controllers[0]?.abort();
    await waiting(9);
    const taken = wait('timeout_seconds=20');
    await waiting(10);
    const id = await deliver();
    expect((await taken).body.event?.id).toBe(id);
    await Promise.all(waits);
    await waiting(0);
  });

  it('is 25 by project, whatever the keys', async () => {
    const keys = [gateway.apiKey, await gateway.key('inbox:read'), await gateway.key('inbox:read')];
    const waits = [10, 10, 5].flatMap((count, index) =>
      Array.from({ length: count }, () => wait('timeout_seconds=60', { key: keys[index] ?? '' })),
    );
    await waiting(25);
    const refused = await wait('timeout_seconds=60', { key: keys[2] ?? '' });
    const details = { kind: 'project', limit: 25, used: 25, retry_after: 5 };
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'TOO_MANY_WAITS', details } },
    });
    await deliver();
    for (const { body } of await Promise.all(waits)) expect(body.event).not.toBeNull();
    await waiting(0);
  });
});

describe('a wait for what arrives after an event', () => {
  it('finds the first, whoever has taken it, and only of those after it', async () => {
    const before = await deliver();
    expect((await wait('arrived_after=none')).body.event?.id).toBe(before);
    await gateway.call('POST', '/v1/inbox/claim', { body: { event_id: before } });
    const reading = wait(`arrived_after=${before}&timeout_seconds=60`);
    await waiting(1);
    const first = await deliver();
    const found = (await reading).body;
    expect(found.event).toMatchObject({ id: first, status: 'pending', attempts: 0 });
    await gateway.call('POST', '/v1/inbox/claim', { body: { event_id: first } });
    await deliver();
    expect((await wait(`arrived_after=${before}`)).body).toEqual(found);
    expect((await wait('arrived_after=none')).body.event?.id).toBe(before);
    expect(
      (await wait(`arrived_after=${before}&source=other&timeout_seconds=1`)).body,
    ).toMatchObject({
      event: null,
    });
  });

  it.each(['evt_00000000000000000000000000', 'soon'])('refuses %s', async (id) => {
    const { status, body } = await wait(`arrived_after=${id}`);
    expect({ status, code: body.error?.code }).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
  });
});

describe('the end of the gateway', () => {
  it('answers every wait as its timeout would', async () => {
    const waits = Array.from({ length: 5 }, () => wait('timeout_seconds=60'));
    await waiting(5);
    await gateway.gateway.endWaits();
    expect(await Promise.all(waits)).toEqual(
      Array.from({ length: 5 }, () => ({ status: 200, body: { event: null } })),
    );
    expect(await wait('timeout_seconds=60')).toEqual({ status: 200, body: { event: null } });
  });
});
