import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Project } from '../../../gateway/projects/project.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { LOOPBACK, Receiver, until } from './callback-receiver.ts';
import { projectOf, Routes, type Delivery } from '../../shared/operations/route/routes.ts';

const MINUTE_MS = 60_000;
const PAUSES_MS = [1, 5, 30, 120, 720].map((minutes) => minutes * MINUTE_MS);

let clock: FakeClock;
let gateway: TestGateway;
let project: Project;
let receiver: Receiver;
let routes: Routes;

async function start(options: { callbackDeadlineMs?: number } = {}): Promise<void> {
  gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK, ...options });
  project = await projectOf(gateway);
  routes = new Routes(gateway);
}

beforeEach(async () => {
  clock = new FakeClock();
  await start();
  receiver = await Receiver.start();
});
afterEach(async () => {
  await gateway.stop();
  await receiver.stop();
});

const attempted = (routeId: string, count: number): Promise<Delivery> =>
  routes.attempted(routeId, count);

/** Moves the clock to the next attempt of the newest delivery, and makes it. */
async function nextAttempt(routeId: string): Promise<Delivery> {
  const { next_attempt_at, attempts } = await routes.newest(routeId);
  clock.advance(Date.parse(next_attempt_at ?? '') - clock.now());
  await maintain(project, clock);
  return attempted(routeId, attempts + 1);
}

describe('a delivery that another event waits for', () => {
  it('wakes it when the receiver has taken it', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url(), { match_source: 'a' });
    const id = await routes.event({ source: 'a' });
    await attempted(routeId, 1);
    const event_id = await routes.event({ source: 'b' });
    const call = (verb: string, more = {}) =>
      gateway.call('POST', `/v1/inbox/${verb}`, { body: { event_id, ...more } });
    await call('claim');
    await call('nack', { until: [id] });
    receiver.answer(200);
    await nextAttempt(routeId);
    const { body } = await call('claim');
    expect(body['resumed']).toMatchObject({ waited_for: [{ id, status: 'done' }] });
  });
});

describe('a delivery that fails', () => {
  it('is tried again after 1 min, 5 min, 30 min, 2 h and 12 h, and then given up', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const id = await routes.event();
    let delivery = await attempted(routeId, 1);
    for (const [index, pauseMs] of PAUSES_MS.entries()) {
      expect(await routes.stateOf(id)).toEqual(['pending', index + 1]);
      const inMs = Date.parse(delivery.next_attempt_at ?? '') - clock.now();
      expect(inMs).toBeGreaterThanOrEqual(pauseMs);
      expect(inMs).toBeLessThanOrEqual(pauseMs * 1.1 + 1000);
      // Not a moment earlier.
      clock.advance(inMs - 1);
      await maintain(project, clock);
      expect(receiver.got).toHaveLength(index + 1);
      delivery = await nextAttempt(routeId);
    }
    expect(delivery).toMatchObject({ status: 'dead', attempts: 6, next_attempt_at: null });
    expect(delivery.finished_at).not.toBeNull();
    expect(delivery.log.map(({ attempt, status_code }) => [attempt, status_code])).toEqual(
      [6, 5, 4, 3, 2, 1].map((attempt) => [attempt, 500]),
    );
    expect(await routes.stateOf(id)).toEqual(['dead', 6]);
    expect(await routes.only()).toMatchObject({ pending: 0, dead: 1 });
    expect(await routes.ledger(id)).toEqual(['event.received', 'delivery.dead']);
    const sent = receiver.got.map(({ headers }) => [
      headers['webhook-id'],
      headers['x-service-attempt'],
    ]);
    expect(sent).toEqual(['1', '2', '3', '4', '5', '6'].map((attempt) => [id, attempt]));
    clock.advance(30 * 60 * MINUTE_MS);
    await maintain(project, clock);
    expect(receiver.got).toHaveLength(6);
  });

  it('arrives when the receiver is well again', async () => {
    receiver.answer(503);
    const { id: routeId } = await routes.add(receiver.url());
    const id = await routes.event();
    await attempted(routeId, 1);
    await nextAttempt(routeId);
    receiver.answer(200);
    expect(await nextAttempt(routeId)).toMatchObject({ status: 'delivered', attempts: 3 });
    expect(await routes.stateOf(id)).toEqual(['done', 2]);
    expect(receiver.got.map(({ event }) => event.attempts)).toEqual([0, 1, 2]);
  });

  it('waits as long as Retry-After asks, where that is longer', async () => {
    receiver.answer(429, { 'retry-after': '1200' });
    const { id: routeId } = await routes.add(receiver.url());
    await routes.event();
    const first = await attempted(routeId, 1);
    const waitMs = Date.parse(first.next_attempt_at ?? '') - clock.now();
    expect(waitMs).toBeGreaterThanOrEqual(1_200_000);
    expect(waitMs).toBeLessThanOrEqual(1_201_000);
    receiver.answer(503, { 'retry-after': '5' });
    const second = await nextAttempt(routeId);
    const next = Date.parse(second.next_attempt_at ?? '') - clock.now();
    expect(next).toBeGreaterThanOrEqual(5 * MINUTE_MS);
  });

  it.each([301, 302, 307, 308])('follows no redirect (%i)', async (status) => {
    receiver.answer(status, { location: receiver.url('/elsewhere') });
    const { id: routeId } = await routes.add(receiver.url());
    await routes.event();
    expect(await attempted(routeId, 1)).toMatchObject({
      status: 'pending',
      log: [{ status_code: status, error: `The receiver answered ${status}.` }],
    });
    expect(receiver.got.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('because nobody answers is cut off at the deadline', async () => {
    await gateway.stop();
    // Not for the others: whoever answers on a busy machine may need longer.
    await start({ callbackDeadlineMs: 300 });
    receiver.hold();
    const { id: routeId } = await routes.add(receiver.url());
    await routes.event();
    const { log } = await attempted(routeId, 1);
    expect(log).toMatchObject([
      { status_code: null, error: 'No answer came within 0.3 s.', response: null },
    ]);
    expect(log[0]?.duration_ms).toBeGreaterThanOrEqual(290);
  });

  it('because nobody is there says so', async () => {
    const { id: routeId } = await routes.add(receiver.url());
    await receiver.stop();
    await routes.event();
    const { log } = await attempted(routeId, 1);
    receiver = await Receiver.start();
    expect(log).toMatchObject([{ status_code: null, error: 'The connection was refused.' }]);
  });

  it('because its address may not be called is given up at once', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const id = await routes.event();
    const { delivery_id } = await attempted(routeId, 1);
    const { folder, projectId } = gateway;
    await gateway.stop({ keepFolder: true });
    clock.advance(2 * MINUTE_MS);
    gateway = await TestGateway.start({ clock, folder });
    const { store } = await projectOf(gateway, projectId);
    const delivery = await until(
      () => store.read(({ deliveries }) => deliveries.find(delivery_id)),
      (row) => row?.status !== 'pending',
    );
    expect(delivery).toMatchObject({ status: 'dead', attempts: 2 });
    const [last] = await store.read(({ deliveries }) => deliveries.attempts(delivery_id, 1));
    expect(last).toMatchObject({
      status_code: null,
      error: 'The address in the URL is not public.',
    });
    expect(await store.read(({ events }) => events.find(id))).toMatchObject({ status: 'dead' });
    expect(receiver.got).toHaveLength(1);
    rmSync(folder, { recursive: true, force: true });
  });

  it('stands with the beginning of what the receiver said', async () => {
    receiver.answer((response) => response.writeHead(500).end(`\0é${'x'.repeat(5000)}`));
    const { id: routeId } = await routes.add(receiver.url());
    await routes.event();
    const { log } = await attempted(routeId, 1);
    const response = log[0]?.response ?? '';
    expect(response.startsWith('\u{FFFD}éxxx')).toBe(true);
    expect(Buffer.byteLength(response)).toBeLessThanOrEqual(1026);
    expect(response.length).toBeGreaterThan(1000);
  });
});

describe('a receiver that answers 410', () => {
  it('disables the route, and what it did not get goes back to whoever pulls', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const first = await routes.event();
    await attempted(routeId, 1);
    receiver.answer(410);
    const second = await routes.event();
    await until(
      () => routes.only(),
      ({ enabled }) => !enabled,
    );
    expect(await routes.only()).toMatchObject({
      disabled_reason: expect.stringMatching(/^The receiver answered 410 Gone\. \(.*Z\)$/),
      pending: 0,
      dead: 0,
    });
    expect([await routes.claim(first), await routes.claim(second)]).toEqual([200, 200]);
    const log = await routes.log(routeId);
    expect(log.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['cancelled', 1],
      ['cancelled', 1],
    ]);
    expect(log[0]?.log).toMatchObject([{ status_code: 410 }]);
    // From now on events are pulled.
    expect(await routes.claim(await routes.event())).toBe(200);
    expect(receiver.got).toHaveLength(2);
    expect(await routes.ledger(routeId)).toEqual(['route_add', 'route.disabled']);
    expect((await routes.retry(routeId)).body).toMatchObject({
      error: { code: 'VALIDATION_FAILED', details: { fields: [{ path: 'route_id' }] } },
    });
  });

  it('ends its own route only, though another leads to the same place', async () => {
    receiver.answer((response, { path }) => response.writeHead(path === '/gone' ? 410 : 204).end());
    await routes.add(receiver.url('/gone'), { match_source: 'open' });
    const good = await routes.add(receiver.url('/good'), { match_source: 'open' });
    const ids = await Promise.all(Array.from({ length: 40 }, () => routes.event()));
    await until(
      () => routes.log(good.id),
      (log) => log.length === 40 && log.every(({ status }) => status === 'delivered'),
    );
    const done = await until(
      () => routes.events('done'),
      ({ length }) => length === ids.length,
    );
    expect(done.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });
});

/** A delivery that was given up. */
async function givenUp(): Promise<{ routeId: string; id: string; deliveryId: string }> {
  receiver.answer(500);
  const { id: routeId } = await routes.add(receiver.url());
  const id = await routes.event();
  let delivery = await attempted(routeId, 1);
  while (delivery.status === 'pending') delivery = await nextAttempt(routeId);
  return { routeId, id, deliveryId: delivery.delivery_id };
}

describe('route_retry', () => {
  it('gives a dead delivery a new round', async () => {
    const { routeId, id, deliveryId } = await givenUp();
    const answer = await routes.retry(routeId, deliveryId);
    expect(answer.body).toEqual({ route_id: routeId, retried: 1, more: false });
    const again = await attempted(routeId, 7);
    expect(again.status).toBe('pending');
    expect(Date.parse(again.next_attempt_at ?? '') - clock.now()).toBeLessThan(67_001);
    expect(await routes.stateOf(id)).toEqual(['pending', 7]);
    expect(await routes.claim(id)).toBe('EVENT_ROUTED');
    receiver.answer(204);
    expect(await nextAttempt(routeId)).toMatchObject({ status: 'delivered', attempts: 8 });
    expect(await routes.stateOf(id)).toEqual(['done', 7]);
    const refused = await routes.retry(routeId, deliveryId);
    expect(refused.body).toMatchObject({ error: { code: 'EVENT_NOT_CLAIMABLE' } });
  });

  it('without a delivery takes all that failed', async () => {
    const { routeId, id } = await givenUp();
    const waiting = await routes.event();
    await attempted(routeId, 1);
    receiver.answer(204);
    expect((await routes.retry(routeId)).body).toMatchObject({ retried: 2, more: false });
    for (const each of [id, waiting]) {
      await until(
        () => routes.stateOf(each),
        ([status]) => status === 'done',
      );
    }
    expect((await routes.retry(routeId)).body).toMatchObject({ retried: 0, more: false });
  });

  it('leaves an event alone that somebody has taken back', async () => {
    const { routeId, id, deliveryId } = await givenUp();
    const requeued = await gateway.call('POST', '/v1/inbox/requeue', { body: { event_id: id } });
    expect(requeued.body).toMatchObject({ status: 'pending' });
    expect(await routes.claim(id)).toBe(200);
    expect((await routes.retry(routeId)).body).toMatchObject({ retried: 0 });
    const one = await routes.retry(routeId, deliveryId);
    expect(one.body).toMatchObject({ error: { code: 'EVENT_NOT_CLAIMABLE' } });
  });

  it('knows no delivery of another route', async () => {
    const { deliveryId } = await givenUp();
    const other = await routes.add(receiver.url('/other'));
    expect((await routes.retry(other.id, deliveryId)).status).toBe(404);
  });
});
