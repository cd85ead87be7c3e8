import { rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { TestGateway } from '../../helpers/gateway.ts';
import { freePort } from '../../helpers/programs.ts';
import { LOOPBACK, Receiver, until } from './callback-receiver.ts';
import { projectOf, Routes } from '../../shared/operations/route/routes.ts';

let gateway: TestGateway;
let receiver: Receiver;
let routes: Routes;

const start = (options: { folder?: string; callbackDeadlineMs?: number } = {}) =>
  TestGateway.start({ callbackAllow: LOOPBACK, ...options });

beforeEach(async () => {
  gateway = await start();
  receiver = await Receiver.start();
  routes = new Routes(gateway);
});
afterEach(async () => {
  await gateway.stop();
  await receiver.stop();
});

const events = (count: number, source = 'open'): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => routes.event({ source })));

const countsOf = async (id: string): Promise<{ pending: number; dead: number }> => {
  const route = (await routes.list()).find((one) => one.id === id);
  return { pending: route?.pending ?? -1, dead: route?.dead ?? -1 };
};

const drained = (id: string) =>
  until(
    () => countsOf(id),
    ({ pending }) => pending === 0,
  );

/** Takes connections and says nothing. */
class Silent {
  readonly #server: Server;
  readonly sockets: Socket[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.sockets.push(socket);
      socket.on('error', () => undefined).resume();
    });
  }

  static async start(): Promise<Silent> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Silent(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('many deliveries at once', () => {
  it('all arrive, each once, and not more than 16 at a time', async () => {
    const { id, secret } = await routes.add(receiver.url());
    receiver.answer((response) => void setTimeout(() => response.writeHead(204).end(), 5));
    const ids = await events(64);
    const more = await events(60);
    await drained(id);
    const came = receiver.got.map(({ headers }) => headers['webhook-id'] ?? '');
    expect(came.toSorted()).toEqual([...ids, ...more].toSorted());
    expect(receiver.mostOpen).toBeGreaterThan(4);
    expect(receiver.mostOpen).toBeLessThanOrEqual(16);
    const webhook = new Webhook(secret);
    for (const { text, headers } of receiver.got) {
      expect(webhook.verify(text, headers)).toMatchObject({ id: headers['webhook-id'] });
    }
    expect(await routes.events('pending')).toEqual([]);
  });

  it('in the order of their arrival, as far as their number at a time allows', async () => {
    const { id } = await routes.add(receiver.url());
    receiver.hold();
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1) ids.push(await routes.event());
    await receiver.came(4);
    receiver.letGo();
    await drained(id);
    const places = receiver.got.map(({ headers }) => ids.indexOf(headers['webhook-id'] ?? ''));
    expect(Math.max(...places.map((place, index) => Math.abs(place - index)))).toBeLessThan(16);
  });

  it('of large bodies arrive whole', async () => {
    const { id } = await routes.add(receiver.url());
    const fill = 'x'.repeat(250_000);
    const bodies = Array.from({ length: 24 }, (_, n) => JSON.stringify({ n, fill }));
    await Promise.all(bodies.map((body) => routes.event({ body })));
    await drained(id);
    const whole = receiver.got.map(({ event }) => (event.payload as { n: number }).n);
    expect(whole.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, n) => n));
  });
});

describe('a destination that does not answer', () => {
  it('keeps nobody else waiting', async () => {
    const silent = await Silent.start();
    const { id: silentId } = await routes.add(silent.url, { match_source: 'silent' });
    const { id } = await routes.add(receiver.url(), { match_source: 'well' });
    await events(60, 'silent');
    await events(40, 'well');
    await drained(id);
    expect(receiver.got).toHaveLength(40);
    // All that while nothing has become of the others.
    expect((await routes.log(silentId)).filter(({ attempts }) => attempts > 0)).toEqual([]);
    // One that nobody knows yet gets few posts at a time.
    expect(silent.sockets.length).toBeLessThanOrEqual(4);
    await silent.stop();
  });

  it('does not hold up the end either', async () => {
    const silent = await Silent.start();
    await routes.add(silent.url);
    await events(20);
    await until(async () => silent.sockets.length, Boolean);
    await gateway.stop({ keepFolder: true });
    await silent.stop();
    // What was cut off counts as no attempt: had it been waited for, it would.
    const { folder, projectId } = gateway;
    gateway = await start({ folder });
    const { store } = await projectOf(gateway, projectId);
    const [route] = await store.read((stored) => stored.routes.list());
    const page = { routeId: route?.id ?? '', beforeId: '', limit: 100, now: Date.now() };
    const log = await store.read((stored) => stored.deliveries.page(page));
    expect(log.filter(({ status }) => status === 'pending')).toHaveLength(20);
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('a destination that refuses', () => {
  it('is called slowly, until it is there again', async () => {
    await receiver.stop();
    // Nobody else gets it while nobody listens there.
    const port = await freePort();
    receiver = await Receiver.start(port);
    const { id } = await routes.add(receiver.url());
    await receiver.stop();
    const began = performance.now();
    await events(120);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const log = await routes.log(id);
    const seconds = (performance.now() - began) / 1000;
    const tried = log.filter(({ attempts }) => attempts > 0);
    expect(tried.length).toBeGreaterThan(5);
    // Two places with 50 ms between: at most 40 a second, and the first few before that.
    expect(tried.length).toBeLessThan(20 + 40 * seconds);
    receiver = await Receiver.start(port);
    // Those that were tried wait for their next attempt; the others come by themselves.
    await until(
      async () => (await routes.retry(id), countsOf(id)),
      ({ pending }) => pending === 0,
    );
    expect(receiver.got).toHaveLength(120);
  });
});

describe('a start', () => {
  it('finds what was under way, and sends it with the same id', async () => {
    const { id } = await routes.add(receiver.url());
    receiver.hold();
    const ids = await events(10);
    await receiver.came(4);
    const { folder, projectId } = gateway;
    await gateway.stop({ keepFolder: true });
    receiver.letGo();
    const before = receiver.got.length;
    gateway = await start({ folder });
    const { store } = await projectOf(gateway, projectId);
    await until(
      () => store.read(({ deliveries }) => deliveries.countsOf(id, Date.now())),
      ({ pending }) => pending === 0,
    );
    const again = receiver.got.slice(before).map(({ headers }) => headers['webhook-id'] ?? '');
    expect(again.toSorted()).toEqual(ids.toSorted());
    // Nothing of what was cut off was counted.
    expect(new Set(receiver.got.map(({ headers }) => headers['x-service-attempt']))).toEqual(
      new Set(['1']),
    );
    rmSync(folder, { recursive: true, force: true });
  });
});
