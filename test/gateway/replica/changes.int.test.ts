import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { decide } from '../../surface/deciding.ts';
import { World } from '../../surface/scenario.ts';
import { ChangeStream } from './change-stream.ts';

const SCOPES = ['inbox:read', 'approvals', 'disk', 'ledger:read'];

let clock: FakeClock;
let gateway: TestGateway;
let streams: ChangeStream[];
/** Folders that outlived a gateway. */
let kept: string[];

beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  streams = [];
  kept = [];
});
afterEach(async () => {
  for (const stream of streams) stream.leave();
  await gateway.stop();
  for (const folder of kept) rmSync(folder, { recursive: true });
});

async function open(key = gateway.apiKey): Promise<ChangeStream> {
  const stream = await ChangeStream.open(gateway.url, key);
  streams.push(stream);
  return stream;
}

async function feed() {
  const project = await gateway.gateway.projects.find(gateway.projectId);
  if (!project) throw new Error('There is no project.');
  return project.feed;
}

async function set(key: string, value: unknown = 1): Promise<number> {
  const { headers } = await gateway.call('PUT', `/v1/kv/${key}`, { body: value });
  return Number(headers.get('x-service-position'));
}

async function newKey(expires?: string): Promise<{ id: string; apiKey: string }> {
  const { body } = await gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
    body: { name: 'replica', scopes: SCOPES, ...(expires && { expires_at: expires }) },
  });
  return { id: body.id, apiKey: body.api_key };
}

describe('the stream of changes', () => {
  it('begins with the place, and tells every commit with its position', async () => {
    const stream = await open();
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^\w+$/) as unknown,
    });
    const { body } = await gateway.call('GET', '/v1/replica');
    const { epoch, generation, position } = body;
    const first = await stream.named('place');
    expect(first.data).toEqual({ epoch, generation, position, time: '2026-01-02T03:04:05.000Z' });
    const written = await set('one');
    expect(written).toBeGreaterThan(Number(position));
    const told = await stream.next(({ data }) => Number(data['position']) >= written);
    expect(told).toEqual({
      name: 'change',
      data: { position: written, time: '2026-01-02T03:04:05.000Z', changes: [{ kind: 'disk' }] },
    });
  });

  it('names events that came in and requests that ended', async () => {
    const url = await gateway.addSource({ name: 'shop', verification: 'none' });
    const stream = await open();
    await gateway.deliver(url, '{"a":1}');
    const event = { kind: 'event', source: 'shop', type: 'webhook.received' };
    const came = await stream.named('change');
    expect(came.data['changes']).toEqual([event]);
    const asked = await gateway.call('POST', '/v1/requests', {
      body: { action: 'go', summary: 'Go', wait_seconds: 0 },
    });
    const id = String(asked.body['request_id']);
    await decide(gateway, new World(gateway, gateway.url), id, { verb: 'approve' });
    const ended = await stream.next(({ data }) => JSON.stringify(data).includes(id));
    expect(ended.data['changes']).toContainEqual({ kind: 'request', id });
  });

  it('tells many commits of a moment in no more events, and in their order', async () => {
    const stream = await open();
    const written = await Promise.all(Array.from({ length: 100 }, (_, n) => set(`k${n}`)));
    const last = Math.max(...written);
    await stream.next(({ data }) => Number(data['position']) >= last);
    const changes = stream.told.filter(({ name }) => name === 'change');
    expect(changes.length).toBeLessThanOrEqual(new Set(written).size);
    const positions = changes.map(({ data }) => Number(data['position']));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  it('makes no commits of its own', async () => {
    const stream = await open();
    await stream.named('place');
    const { body } = await gateway.call('GET', '/v1/replica');
    const path = `/v1/replica/${String(body['epoch'])}`;
    for (let n = 0; n < 3; n += 1) {
      await gateway.call('GET', `${path}/info`);
      await gateway
        .call('GET', `${path}/sync/${String(body['generation'])}/1/9999`)
        .catch(() => null);
    }
    expect((await feed()).size).toBe(1);
    stream.leave();
    await expect.poll(async () => (await feed()).size).toBe(0);
    expect((await gateway.call('GET', '/v1/replica')).body['position']).toBe(body['position']);
  });
});

describe('the key of a stream', () => {
  it('ends it when it is revoked, before anything that comes after', async () => {
    const key = await newKey();
    const [theirs, ours] = [await open(key.apiKey), await open()];
    await theirs.named('place');
    const { status } = await gateway.call('DELETE', `/v1/keys/${key.id}`);
    expect(status).toBe(200);
    await set('after');
    await theirs.ended();
    expect(theirs.told.at(-1)).toEqual({ name: 'end', data: { code: 'KEY_REVOKED' } });
    await set('later');
    expect(ours.isOpen).toBe(true);
    await expect(open(key.apiKey)).rejects.toThrow('401');
  });

  it('ends it when its time is over', async () => {
    const key = await newKey('2026-01-02T03:05:05.000Z');
    const theirs = await open(key.apiKey);
    await set('before');
    await theirs.named('change');
    clock.advance(60_000);
    await set('after');
    await theirs.ended();
    expect(theirs.told.map(({ name }) => name)).toEqual(['place', 'change', 'end']);
    expect(theirs.told.at(-1)?.data).toEqual({ code: 'UNAUTHENTICATED' });
  });

  it('ends it when it was rotated at once', async () => {
    const key = await newKey();
    const theirs = await open(key.apiKey);
    await theirs.named('place');
    const { status } = await gateway.call('POST', `/v1/keys/${key.id}/rotate`, {
      body: { grace_seconds: 0 },
    });
    expect(status).toBe(201);
    await theirs.ended();
    expect(theirs.told.at(-1)).toEqual({ name: 'end', data: { code: 'UNAUTHENTICATED' } });
  });
});

describe('a stream that stays open', () => {
  it('counts as use of its key, once an hour', async () => {
    const key = await newKey();
    const other = await newKey();
    const stream = await open(key.apiKey);
    await stream.named('place');
    clock.advance(3_600_000);
    // A key that ends has all of them looked at.
    await gateway.call('DELETE', `/v1/keys/${other.id}`);
    await stream.next(({ name }) => name === 'change');
    const { apiKey, folder } = gateway;
    kept.push(folder);
    await gateway.stop({ keepFolder: true });
    gateway = await TestGateway.start({ clock, folder });
    const { body } = await gateway.call<{ items: Record<string, unknown>[] }>('GET', '/v1/keys', {
      key: apiKey,
    });
    const used = body.items.find(({ id }) => id === key.id);
    expect(used).toMatchObject({ last_used_at: '2026-01-02T04:04:05.000Z' });
  });
});

describe('many streams', () => {
  it('are bounded', async () => {
    const listening = await feed();
    await open();
    const leave: (() => void)[] = [];
    for (let n = 1; n < 1000; n += 1) {
      leave.push(
        listening.join({
          keyId: n <= 500 ? 'key_a' : 'key_b',
          expiresAt: null,
          refusal: async () => null,
          send: () => undefined,
          end: () => undefined,
        }),
      );
    }
    await expect(open()).rejects.toThrow(/^429 .*TOO_MANY_WAITS/);
    leave.pop()?.();
    await (await open()).named('place');
    for (const one of leave) one();
  });

  it('cut off who does not read, at no cost to the others', async () => {
    const quick = await open();
    const slow = await Promise.all(Array.from({ length: 4 }, () => open()));
    for (const stream of slow) stream.stall();
    const url = await gateway.addSource({ name: 'flood', verification: 'none' });
    const listening = await feed();
    // Far more than the buffers of a connection and the backlog together.
    for (let n = 0; n < 1000 && listening.size > 1; n += 1) {
      for (let one = 0; one < 50; one += 1) {
        const type = `${n}.${one}.${'x'.repeat(4000)}`;
        listening.note({ kind: 'event_ready', source: 'flood', type });
      }
      await sleep(6);
    }
    expect(listening.size).toBe(1);
    await gateway.deliver(url, '{"last":true}');
    await quick.next(({ data }) => JSON.stringify(data).includes('webhook.received'));
    expect(quick.isOpen).toBe(true);
  });

  it('end when the gateway does', async () => {
    const all = [await open(), await open()];
    await Promise.all(all.map((stream) => stream.named('place')));
    await gateway.gateway.endWaits();
    for (const stream of all) {
      await stream.ended();
      expect(stream.told.at(-1)).toEqual({ name: 'end', data: { code: 'UNAVAILABLE' } });
    }
    await expect(open()).rejects.toThrow('503');
  });
});
