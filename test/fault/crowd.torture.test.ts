import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Project } from '../../gateway/projects/project.ts';
import { TestGateway } from '../helpers/gateway.ts';

const WAITERS = 25;
const ROUNDS = 20;
const COPIES = 64;

let gateway: TestGateway;
let project: Project;
let hook = '';
let keys: string[] = [];
/** Snapshots that were read of the project. */
let reads = 0;
beforeAll(async () => {
  gateway = await TestGateway.start();
  hook = await gateway.addSource({ name: 'open' });
  keys = [gateway.apiKey, await gateway.key('inbox:read'), await gateway.key('inbox:read')];
  const found = await gateway.gateway.projects.find(gateway.projectId);
  if (!found) throw new Error('There is no project.');
  project = found;
  const { store } = project;
  const read = store.read.bind(store);
  store.read = (fn) => {
    reads += 1;
    return read(fn);
  };
});
afterAll(() => gateway.stop());

async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const before = reads;
  await work();
  return reads - before;
}

interface Waited {
  readonly event: { readonly id: string } | null;
}

function wait(index: number, query: string) {
  const key = keys[Math.floor(index / 10)] ?? '';
  return gateway.call<Waited>('GET', `/v1/inbox/wait?${query}`, { key });
}

async function waiting(count: number): Promise<void> {
  await expect.poll(() => project.waits.size, { interval: 5 }).toBe(count);
}

const claim = (event_id: string) => gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });

async function deliver(name: string): Promise<string> {
  const { body } = await gateway.deliver(hook, name);
  return String(body['event_id']);
}

describe(`${WAITERS} waiters`, () => {
  it('look once each when one event comes, and one of them gets it', async () => {
    let answers: Promise<{ body: Waited }[]> = Promise.resolve([]);
    // One look before they sleep, and at most one to know the key.
    const entering = await readsOf(async () => {
      const all = Array.from({ length: WAITERS }, (_, n) => wait(n, 'timeout_seconds=60'));
      answers = Promise.all(all);
      await waiting(WAITERS);
    });
    expect(entering).toBeLessThanOrEqual(2 * WAITERS);
    let id = '';
    const waking = await readsOf(async () => {
      id = await deliver('for all');
      await answers;
    });
    expect((await answers).map(({ body }) => body.event?.id)).toEqual(
      Array.from({ length: WAITERS }, () => id),
    );
    expect(waking).toBeGreaterThanOrEqual(WAITERS);
    // The delivery itself may read something, too.
    expect(waking).toBeLessThanOrEqual(WAITERS + 2);
    const claims = await Promise.all(Array.from({ length: WAITERS }, () => claim(id)));
    expect(claims.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('look at nothing while nothing happens that concerns them', async () => {
    const waits = Array.from({ length: WAITERS }, (_, n) =>
      wait(n, 'type=nobody.sends.this&timeout_seconds=3'),
    );
    await waiting(WAITERS);
    const asleep = await readsOf(async () => {
      await sleep(500);
      const others = await Promise.all(Array.from({ length: 10 }, (_, n) => deliver(`other ${n}`)));
      expect(new Set(others).size).toBe(10);
    });
    expect(asleep).toBeLessThanOrEqual(10);
    expect((await Promise.all(waits)).map(({ body }) => body.event)).toEqual(waits.map(() => null));
  });

  it('leave their places though their connections never say goodbye', async () => {
    const { hostname, port } = new URL(gateway.url);
    const request = [
      // Long enough for all of them to be there at the same time.
      'GET /v1/inbox/wait?type=none&timeout_seconds=4 HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${gateway.apiKey}`,
      '\r\n',
    ].join('\r\n');
    const gone: Socket[] = [];
    for (let n = 0; n < 10; n += 1) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      // It reads nothing, and closes nothing.
      socket.pause().write(request);
      gone.push(socket);
    }
    await waiting(10);
    const refused = await wait(0, 'type=none&timeout_seconds=1');
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'TOO_MANY_WAITS' } } });
    await waiting(0);
    const taken = await Promise.all(
      Array.from({ length: 10 }, () => wait(0, 'type=none&timeout_seconds=1')),
    );
    expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 200));
    for (const socket of gone) socket.destroy();
  });
});

describe('a delivery that comes many times at once', () => {
  it(`is one event, ${ROUNDS} times ${COPIES} of them`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      // By its id in one round, by its bytes in the next.
      const headers = round % 2 === 0 ? { 'webhook-id': `round-${round}` } : {};
      const answers = await Promise.all(
        Array.from({ length: COPIES }, () => gateway.deliver(hook, `round ${round}`, headers)),
      );
      const told = answers.map(({ status, body }) => `${status} ${body['status'] as string}`);
      expect(told.toSorted()).toEqual([
        '200 accepted',
        ...Array.from({ length: COPIES - 1 }, () => '200 duplicate'),
      ]);
      expect(new Set(answers.map(({ body }) => body['event_id'])).size).toBe(1);
    }
  });
});
