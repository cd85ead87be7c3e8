import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Project } from '../../../../gateway/projects/project.ts';
import { maintain } from '../../../../gateway/projects/maintenance.ts';
import type { Envelope } from '../../../../shared/kernel/envelope.ts';
import { newId } from '../../../../shared/lib/ids.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { LOOPBACK, Receiver, until } from '../../../gateway/callbacks/callback-receiver.ts';
import { refused } from '../../../gateway/approvals/people.ts';
import { projectOf, Routes, type Delivery, type Route } from './routes.ts';

const DAY_MS = 86_400_000;

let clock: FakeClock;
let gateway: TestGateway;
let project: Project;
let receiver: Receiver;
let routes: Routes;

beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  project = await projectOf(gateway);
  routes = new Routes(gateway);
  receiver = await Receiver.start();
});
afterEach(async () => {
  await gateway.stop();
  await receiver.stop();
});

type Enabled = Route & { readonly resumed: number; readonly more: boolean };

const turn = (id: string, how: 'enable' | 'disable') =>
  gateway.call<Enabled>('POST', `/v1/routes/${id}/${how}`, { body: {} });

/** What the service has told of a type, oldest first, in whatever state. */
async function told(type: string): Promise<Envelope[]> {
  const found: Envelope[] = [];
  for (const status of ['pending', 'claimed', 'done', 'dead']) {
    const path = `/v1/inbox?source=service&type=${type}&status=${status}&limit=100`;
    found.push(...(await gateway.call<{ items: Envelope[] }>('GET', path)).body.items);
  }
  return found;
}

const disabled = () =>
  until(
    () => routes.list(),
    (all) => all.some(({ enabled }) => !enabled),
  );
const settled = (id: string, wanted: string) =>
  until(
    () => routes.stateOf(id),
    ([status]) => status === wanted,
  );

/** Moves the clock from attempt to attempt until the newest delivery of a route is given up. */
async function exhausted(routeId: string): Promise<Delivery> {
  let delivery = await until(
    () => routes.newest(routeId),
    ({ log }) => log.length > 0,
  );
  while (delivery.status === 'pending') {
    const { attempts, next_attempt_at } = delivery;
    clock.advance(Date.parse(next_attempt_at ?? '') - clock.now());
    await maintain(project, clock);
    delivery = await routes.attempted(routeId, attempts + 1);
  }
  return delivery;
}

describe('a route that a receiver ends with 410', () => {
  it('is told of in the inbox, and not to the receiver', async () => {
    receiver.answer(410);
    const route = await routes.add(receiver.url());
    const id = await routes.event();
    await disabled();
    const [event, ...more] = await told('route.disabled');
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      source: 'service',
      channel: 'service',
      trust: 'service',
      verified: true,
      status: 'pending',
      payload: {
        route_id: route.id,
        callback_url: receiver.url(),
        match_source: null,
        match_type: null,
        reason: 'The receiver answered 410 Gone.',
        event_id: id,
        at: new Date(clock.now()).toISOString(),
      },
    });
    expect(await routes.claim(event?.id ?? '')).toBe(200);
    expect(receiver.got).toHaveLength(1);
  });

  it('is told of once, however many it did not get', async () => {
    receiver.hold();
    await routes.add(receiver.url());
    for (let n = 0; n < 5; n += 1) await routes.event();
    await receiver.came(1);
    receiver.letGo();
    receiver.answer(410);
    for (let n = 0; n < 5; n += 1) await routes.event();
    await disabled();
    await until(
      () => routes.only(),
      ({ pending }) => pending === 0,
    );
    expect(await told('route.disabled')).toHaveLength(1);
  });

  it('can be told to another receiver', async () => {
    receiver.answer((response, { path }) => response.writeHead(path === '/gone' ? 410 : 204).end());
    await routes.add(receiver.url('/gone'), { match_source: 'open' });
    const alerts = await routes.add(receiver.url('/alerts'), { match_source: 'service' });
    await routes.event();
    const log = await until(
      () => routes.log(alerts.id),
      ([first]) => first?.status === 'delivered',
    );
    expect(log.map(({ event_type }) => event_type)).toEqual(['route.disabled']);
  });

  it('is enabled again: it takes events, and delivers what it gave back and nobody claimed', async () => {
    receiver.answer(410);
    const { id: routeId } = await routes.add(receiver.url(), { match_source: 'open' });
    const first = await routes.event();
    await disabled();
    const meanwhile = await routes.event();
    expect(await routes.stateOf(first)).toEqual(['pending', 1]);
    receiver.answer(204);
    const answer = await turn(routeId, 'enable');
    expect(answer).toMatchObject({
      status: 200,
      body: { id: routeId, enabled: true, disabled_reason: null, resumed: 1, more: false },
    });
    await settled(first, 'done');
    const second = await routes.event();
    await settled(second, 'done');
    expect(receiver.got.map(({ headers }) => headers['webhook-id'])).toEqual([
      first,
      first,
      second,
    ]);
    // It came while there was no route.
    expect(await routes.claim(meanwhile)).toBe(200);
    expect(await routes.ledger(routeId)).toEqual(['route_add', 'route.disabled', 'route_enable']);
  });

  it('leaves alone what somebody claimed meanwhile, and what is past 30 days', async () => {
    receiver.hold();
    const { id: routeId } = await routes.add(receiver.url(), { match_source: 'open' });
    const old = await routes.event();
    clock.advance(20 * DAY_MS);
    const [held, waits] = [await routes.event(), await routes.event()];
    await turn(routeId, 'disable');
    receiver.letGo();
    expect(await routes.claim(held)).toBe(200);
    clock.advance(10 * DAY_MS + 1);
    expect((await turn(routeId, 'enable')).body.resumed).toBe(1);
    await settled(waits, 'done');
    // Its lease has run out meanwhile.
    for (const id of [old, held]) expect(await routes.claim(id)).toBe(200);
  });
});

describe('route_disable', () => {
  it('gives back what is under way, tells the inbox, and may be repeated', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const id = await routes.event();
    await routes.attempted(routeId, 1);
    const first = await turn(routeId, 'disable');
    expect(first).toMatchObject({
      status: 200,
      body: {
        id: routeId,
        enabled: false,
        disabled_reason: expect.stringMatching(/^Disabled by hand\. \(.*Z\)$/),
      },
    });
    clock.advance(1000);
    expect((await turn(routeId, 'disable')).body).toEqual(first.body);
    expect(await told('route.disabled')).toMatchObject([
      { payload: { route_id: routeId, reason: 'Disabled by hand.', event_id: null } },
    ]);
    expect(await routes.only()).toMatchObject({ pending: 0, dead: 0 });
    expect(await routes.claim(id)).toBe(200);
    expect(await routes.claim(await routes.event())).toBe(200);
    expect(receiver.got).toHaveLength(1);
    expect(await turn('rte_01j9z3k4m5n6p7q8r9s0t1v2w3', 'disable')).toMatchObject(
      refused(404, 'NOT_FOUND'),
    );
  });

  it('gives back a long queue, and route_enable takes it up again in portions', async () => {
    receiver.hold();
    const { id: routeId } = await routes.add(receiver.url(), { match_source: 'open' });
    await queue(routeId, 510);
    expect(await routes.only()).toMatchObject({ pending: 510 });
    await turn(routeId, 'disable');
    await until(
      () => routes.only(),
      ({ pending }) => pending === 0,
    );
    expect((await turn(routeId, 'enable')).body).toMatchObject({ resumed: 500, more: true });
    expect((await turn(routeId, 'enable')).body).toMatchObject({ resumed: 10, more: false });
    expect((await turn(routeId, 'enable')).body).toMatchObject({ enabled: true, resumed: 0 });
    expect(await routes.only()).toMatchObject({ pending: 510 });
  });
});

/** Events that a route is to deliver in a day. */
async function queue(routeId: string, count: number): Promise<void> {
  const nowIso = new Date(clock.now()).toISOString();
  await writerOf(project).write(async ({ events, deliveries }) => {
    for (let n = 0; n < count; n += 1) {
      const { seq } = await events.nextPlace(nowIso);
      const event = {
        id: newId('evt', clock.now()),
        sourceId: null,
        source: 'open',
        channel: 'webhook',
        type: 'webhook.received',
        receivedAt: nowIso,
        verified: false,
        trust: 'external_untrusted',
        suspectedReplay: false,
        sizeBytes: 0,
        providerId: null,
        bodyHash: null,
        content: { headers: '{}', contentType: null, kind: 'text', body: null, blob: null },
      } as const;
      await events.insert(event, seq);
      await deliveries.setRouted(seq);
      await deliveries.insert({
        id: newId('dlv', clock.now()),
        eventSeq: seq,
        routeId,
        requestId: null,
        url: receiver.url(),
        destination: `127.0.0.1:${receiver.port}`,
        dueAt: clock.now() + DAY_MS,
        createdAt: nowIso,
      });
    }
  });
}

describe('a delivery that is given up', () => {
  it('is told of in the inbox, and not to its own receiver', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const id = await routes.event();
    const { delivery_id } = await exhausted(routeId);
    const [event, ...more] = await told('delivery.exhausted');
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      source: 'service',
      trust: 'service',
      status: 'pending',
      payload: {
        delivery_id,
        event_id: id,
        route_id: routeId,
        request_id: null,
        callback_url: receiver.url(),
        attempts: 6,
        status_code: 500,
        error: 'The receiver answered 500.',
        at: new Date(clock.now()).toISOString(),
      },
    });
    expect(await routes.claim(event?.id ?? '')).toBe(200);
    expect(await routes.log(routeId)).toHaveLength(1);
  });

  it('is told to other receivers, and never without end where those are dead as well', async () => {
    const other = await Receiver.start();
    receiver.answer(500);
    other.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const { id: otherId } = await routes.add(other.url(), { match_source: 'service' });
    await routes.event();
    await exhausted(routeId);
    await until(
      () => routes.log(otherId),
      ({ length }) => length === 1,
    );
    await exhausted(otherId);
    expect(other.got.map(({ event }) => event.type)).toEqual(
      Array.from({ length: 6 }, () => 'delivery.exhausted'),
    );
    clock.advance(DAY_MS);
    await maintain(project, clock);
    expect(await told('delivery.exhausted')).toHaveLength(1);
    expect([await routes.log(routeId), await routes.log(otherId)].flat()).toHaveLength(2);
    await other.stop();
  });

  it('is told of a request, too, whose callback nobody takes', async () => {
    await gateway.call('POST', '/v1/request-callback-secret', { body: {} });
    receiver.answer(410);
    const { body } = await gateway.call<{ request_id: string }>('POST', '/v1/requests', {
      body: {
        action: 'a',
        summary: 'b',
        expires_in: '1m',
        wait_seconds: 0,
        callback_url: receiver.url(),
      },
    });
    clock.advance(61_000);
    await maintain(project, clock);
    const found = await until(
      () => told('delivery.exhausted'),
      ({ length }) => length > 0,
    );
    expect(found).toMatchObject([
      { payload: { route_id: null, request_id: body.request_id, attempts: 1, status_code: 410 } },
    ]);
  });
});
