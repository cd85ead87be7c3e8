import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { Routing } from '../../../gateway/commit/context/open-routes.ts';
import { queueCallback } from '../../../gateway/commit/commands/inbox/routing.ts';
import type { Project } from '../../../gateway/projects/project.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { writerOf } from '../../helpers/writers.ts';
import { LOOPBACK, Receiver, until } from './callback-receiver.ts';
import { projectOf, Routes, type Delivery } from '../../shared/operations/route/routes.ts';

let clock: FakeClock;
let gateway: TestGateway;
let project: Project;
let receiver: Receiver;
let routes: Routes;

beforeEach(async () => {
  // Libraries that check signatures look at the clock of the machine.
  clock = new FakeClock(Date.now());
  gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  project = await projectOf(gateway);
  receiver = await Receiver.start();
  routes = new Routes(gateway);
});
afterEach(async () => {
  await gateway.stop();
  await receiver.stop();
});

describe('what is sent', () => {
  it('is accepted by the libraries of receivers, and by them alone with the right secret', async () => {
    const { secret } = await routes.add(receiver.url());
    const other = await routes.add(receiver.url('/other'), { match_source: 'nobody' });
    const id = await routes.event({ body: '{"text":"é \u{1F600}"}' });
    const [got] = await receiver.came(1);
    const { text = '', headers = {} } = got ?? {};
    for (const Library of [Webhook, SvixWebhook]) {
      expect(new Library(secret).verify(text, headers)).toMatchObject({ id });
      expect(() => new Library(other.secret).verify(text, headers)).toThrow(/No matching/);
      expect(() => new Library(secret).verify(`${text} `, headers)).toThrow(/No matching/);
    }
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^svc\/\d/),
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(clock.now() / 1000)),
      'x-service-attempt': '1',
    });
  });

  it('is the event as inbox_claim shows it', async () => {
    const pulled = await routes.event({ body: '{"a":[1,2,{"b":null}]}' });
    const claimed = await gateway.call('POST', '/v1/inbox/claim', {
      body: { event_id: pulled },
    });
    await routes.add(receiver.url());
    await routes.event({ body: '{"a":[1,2,{"b":null}]}' });
    const [got] = await receiver.came(1);
    const { lease_id: _, lease_expires_at: __, ...envelope } = claimed.body;
    expect(Object.keys(got?.event ?? {})).toEqual(Object.keys(envelope));
    expect(got?.event.payload).toEqual(envelope['payload']);
  });

  it('holds a payload over 8 KB whole, and over 256 KB a link to it', async () => {
    await routes.add(receiver.url());
    await routes.event({ body: JSON.stringify({ fill: 'x'.repeat(100_000) }) });
    const large = JSON.stringify({ fill: 'y'.repeat(300_000) });
    await routes.event({ body: large });
    const got = await receiver.came(2);
    const [whole, linked] = got.toSorted((a, b) => b.text.length - a.text.length);
    expect(whole?.event.payload).toEqual({ fill: 'x'.repeat(100_000) });
    expect(linked?.event).toMatchObject({ payload: null, payload_truncated: false });
    const response = await fetch(linked?.event.payload_url ?? '');
    expect(await response.text()).toBe(large);
  });
});

/** Stores an event and sends it to a callback as the end of a request does. */
async function callback(id: string): Promise<void> {
  const row = await project.store.read((store) => store.events.find(id));
  await writerOf(project).write((store) =>
    queueCallback(
      { store, routing: new Routing(), emit: () => undefined },
      { seq: row?.seq ?? 0, url: receiver.url('/callback'), requestId: 'req_1' },
      clock.now(),
    ),
  );
  await maintain(project, clock);
}

async function newSecret(): Promise<string> {
  const path = '/v1/request-callback-secret';
  const answer = await gateway.call<{ secret: string }>('POST', path, { body: {} });
  return answer.body.secret;
}

describe('the callback of a request', () => {
  it('is signed with the secret of the project, and the event stays in the inbox', async () => {
    const secret = await newSecret();
    const id = await routes.event();
    await callback(id);
    const [got] = await receiver.came(1);
    expect(new Webhook(secret).verify(got?.text ?? '', got?.headers ?? {})).toMatchObject({ id });
    expect(await routes.claim(id)).toBe(200);
  });

  it('carries both signatures for a day after a rotation', async () => {
    const before = await newSecret();
    const after = await newSecret();
    const verifies = (secret: string, index: number): boolean => {
      const { text = '', headers = {} } = receiver.got[index] ?? {};
      // What the library would sign: it verifies nothing that is of tomorrow.
      const at = new Date(Number(headers['webhook-timestamp']) * 1000);
      const signature = new Webhook(secret).sign(headers['webhook-id'] ?? '', at, text);
      return headers['webhook-signature']?.split(' ').includes(signature) === true;
    };
    const id = await routes.event();
    await callback(id);
    await receiver.came(1);
    expect([verifies(after, 0), verifies(before, 0)]).toEqual([true, true]);
    clock.advance(86_400_000);
    await callback(id);
    await receiver.came(2);
    expect([verifies(after, 1), verifies(before, 1)]).toEqual([true, false]);
  });

  it('is tried again like any other, and counts nothing at the event', async () => {
    await newSecret();
    receiver.answer(500);
    const id = await routes.event();
    await callback(id);
    await receiver.came(1);
    receiver.answer(204);
    const due = await until(
      () => project.store.read((store) => store.deliveries.nextDueAfter(clock.now())),
      (at) => at !== null,
    );
    clock.advance((due ?? 0) - clock.now());
    await maintain(project, clock);
    await receiver.came(2);
    expect(await routes.stateOf(id)).toEqual(['pending', 0]);
  });
});

describe('the log of deliveries', () => {
  it('comes in pages, newest first, and by state', async () => {
    const { id: routeId } = await routes.add(receiver.url());
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await routes.event());
    await until(
      () => routes.only(),
      ({ pending }) => pending === 0,
    );
    receiver.answer(500);
    ids.push(await routes.event());
    await routes.attempted(routeId, 1);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const path = `/v1/routes/${routeId}/attempts?limit=2${cursor && `&cursor=${cursor}`}`;
      const page: { body: { items: Delivery[]; next_cursor: string | null } } = await gateway.call(
        'GET',
        path,
      );
      seen.push(...page.body.items.map(({ event_id }) => event_id));
      cursor = page.body.next_cursor;
    }
    expect(seen).toEqual(ids.toReversed());
    const delivered = await routes.log(routeId, '&status=delivered');
    expect(delivered.map(({ event_id }) => event_id)).toEqual(ids.slice(0, 5).toReversed());
    expect(await routes.log(routeId, '&status=dead')).toEqual([]);
  });

  it('is gone after 30 days, with what receivers said', async () => {
    const { id: routeId } = await routes.add(receiver.url());
    const id = await routes.event();
    await until(
      () => routes.stateOf(id),
      ([status]) => status === 'done',
    );
    clock.advance(30 * 86_400_000);
    await maintain(project, clock);
    expect(await routes.log(routeId)).toHaveLength(1);
    clock.advance(1000);
    await maintain(project, clock);
    expect(await routes.log(routeId)).toEqual([]);
    expect(await routes.stateOf(id)).toEqual(['done', 0]);
  });
});
