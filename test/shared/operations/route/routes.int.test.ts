import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { TestGateway } from '../../../helpers/gateway.ts';
import { LOOPBACK, Receiver, until } from '../../../gateway/callbacks/callback-receiver.ts';
import { projectOf, Routes } from './routes.ts';

let gateway: TestGateway;
let receiver: Receiver;
let routes: Routes;

beforeEach(async () => {
  gateway = await TestGateway.start({ callbackAllow: LOOPBACK });
  receiver = await Receiver.start();
  routes = new Routes(gateway);
});
afterEach(async () => {
  await gateway.stop();
  await receiver.stop();
});

const settled = (id: string, wanted = 'done') =>
  until(
    () => routes.stateOf(id),
    ([status]) => status === wanted,
  );

describe('route_add', () => {
  it('answers the route with its secret, which is shown this once', async () => {
    const match = { match_source: 'stripe', match_type: 'invoice.*' };
    const added = await routes.add(receiver.url(), match);
    expect(added).toEqual({
      id: expect.stringMatching(/^rte_[0-9a-z]{26}$/),
      callback_url: receiver.url(),
      ...match,
      enabled: true,
      disabled_reason: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      created_by: expect.stringMatching(/^key_/),
      maker: 'key admin',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      warnings: ["There's no source `stripe` yet: its events arrive only once you add it."],
    });
    const { secret: _secret, warnings: _warnings, ...shown } = added;
    expect(await routes.list()).toEqual([{ ...shown, pending: 0, dead: 0 }]);
    const other = await routes.add(receiver.url());
    expect(other.secret).not.toBe(added.secret);
  });

  it.each([
    [{ match_type: '*a' }, 'match_type', 'Use `*` only at the end'],
    [{ match_type: 'a*b' }, 'match_type', 'Use `*` only at the end'],
    [{ match_source: 'No Such Name' }, 'match_source', 'Not a valid source name'],
  ])('refuses a route that could never match: %j', async (match, path, message) => {
    const body = { callback_url: receiver.url(), ...match };
    const answer = await gateway.call('POST', '/v1/routes', { body });
    const problem = { path, message: expect.stringContaining(message) };
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_FAILED', details: { fields: [problem] } } },
    });
    expect(await routes.list()).toEqual([]);
  });

  it('warns of no source that is there, nor of those the service writes itself', async () => {
    await gateway.addSource({ name: 'shop' });
    for (const match of [{ match_source: 'shop' }, { match_source: 'service' }, {}]) {
      expect(await routes.add(receiver.url(), match)).toMatchObject({ warnings: [] });
    }
  });

  it('answers a repeat with the same Idempotency-Key as the first call', async () => {
    const headers = { 'idempotency-key': 'once' };
    const wanted = { body: { callback_url: receiver.url() }, headers };
    const first = await gateway.call('POST', '/v1/routes', wanted);
    const again = await gateway.call('POST', '/v1/routes', wanted);
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(await routes.list()).toHaveLength(1);
  });

  it('refuses an address of this machine unless it is allowed', async () => {
    const strict = await TestGateway.start();
    const body = { callback_url: receiver.url() };
    const answer = await strict.call('POST', '/v1/routes', { body });
    await strict.stop();
    expect(answer.body).toMatchObject({ error: { code: 'CALLBACK_URL_REJECTED' } });
  });

  it('takes 50 routes, and another one when one was removed', async () => {
    const added = [];
    for (let n = 0; n < 50; n += 1) added.push(await routes.add(receiver.url(`/${n}`)));
    const body = { callback_url: receiver.url() };
    const { status, body: answer } = await gateway.call('POST', '/v1/routes', { body });
    expect([status, answer]).toMatchObject([
      400,
      { error: { details: { fields: [{ path: 'callback_url', message: /50/ }] } } },
    ]);
    expect(await routes.remove(added[7]?.id ?? '')).toBe(200);
    await routes.add(receiver.url());
    expect(await routes.list()).toHaveLength(50);
  });
});

describe('an event that matches a route', () => {
  it('is pushed and done, and nobody can pull it', async () => {
    const { id: routeId, secret } = await routes.add(receiver.url());
    receiver.hold();
    const id = await routes.event();
    const [got] = await receiver.came(1);
    expect(await routes.claim(id)).toBe('EVENT_ROUTED');
    const waited = await gateway.call('GET', '/v1/inbox/wait?timeout_seconds=1');
    expect(waited.body).toEqual({ event: null });
    expect(await routes.stateOf(id)).toEqual(['pending', 0]);
    expect(await routes.only()).toMatchObject({ pending: 1, dead: 0 });
    receiver.letGo();
    await settled(id);
    expect(got?.event).toMatchObject({
      id,
      project: gateway.projectId,
      source: 'open',
      trust: 'external_untrusted',
      payload: { n: 1 },
      payload_url: null,
    });
    expect(new Webhook(secret).verify(got?.text ?? '', got?.headers ?? {})).toMatchObject({ id });
    expect(await routes.claim(id)).toBe('EVENT_ROUTED');
    expect(await routes.newest(routeId)).toMatchObject({
      event_id: id,
      event_type: 'webhook.received',
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      log: [{ attempt: 1, status_code: 204, error: null, response: '' }],
    });
  });

  it('is found by source and by type, exact or by its beginning', async () => {
    await gateway.addSource({ name: 'hub', verification: 'none' });
    await routes.add(receiver.url('/by-source'), { match_source: 'other' });
    await routes.add(receiver.url('/exact'), { match_type: 'webhook.received' });
    await routes.add(receiver.url('/prefix'), { match_source: 'other', match_type: 'webhook.*' });
    await routes.add(receiver.url('/never'), { match_type: 'webhook' });
    await routes.add(receiver.url('/nor-this'), { match_source: 'hub' });
    await settled(await routes.event({ source: 'other' }));
    const paths = receiver.got.map(({ path }) => path);
    expect(paths.toSorted()).toEqual(['/by-source', '/exact', '/prefix']);
  });

  it('that nobody matched before stays as it is', async () => {
    const id = await routes.event();
    await routes.add(receiver.url());
    expect(await routes.claim(id)).toBe(200);
    await settled(await routes.event());
    expect(receiver.got).toHaveLength(1);
  });

  it('wakes no wait, while others do', async () => {
    await routes.add(receiver.url(), { match_source: 'pushed' });
    const wait = gateway.call<{ event: { source: string } }>(
      'GET',
      '/v1/inbox/wait?timeout_seconds=20',
    );
    await settled(await routes.event({ source: 'pushed' }));
    await routes.event({ source: 'pulled' });
    expect((await wait).body.event.source).toBe('pulled');
  });
});

describe('two routes', () => {
  it('get the same event each, signed with their own secrets', async () => {
    const one = await routes.add(receiver.url('/one'));
    const two = await routes.add(receiver.url('/two'));
    const id = await routes.event();
    await settled(id);
    expect(receiver.got.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    for (const [path, secret] of [
      ['/one', one.secret],
      ['/two', two.secret],
    ] as const) {
      const got = receiver.got.find((each) => each.path === path);
      expect(new Webhook(secret).verify(got?.text ?? '', got?.headers ?? {})).toBeTruthy();
    }
  });

  it('have it done only when both have it', async () => {
    const other = await Receiver.start();
    other.hold();
    await routes.add(receiver.url());
    await routes.add(other.url());
    const id = await routes.event();
    await other.came(1);
    await receiver.came(1);
    await until(
      () => routes.list(),
      (all) => all[0]?.pending === 0,
    );
    expect(await routes.stateOf(id)).toEqual(['pending', 0]);
    other.letGo();
    await settled(id);
    await other.stop();
  });
});

describe('route_remove', () => {
  it('gives what was not delivered back to whoever pulls', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const id = await routes.event();
    await until(
      () => routes.stateOf(id),
      ([, attempts]) => attempts === 1,
    );
    const wait = gateway.call<{ event: { id: string } }>(
      'GET',
      '/v1/inbox/wait?timeout_seconds=20',
    );
    expect(await routes.remove(routeId)).toBe(200);
    expect((await wait).body.event.id).toBe(id);
    expect(await routes.claim(id)).toBe(200);
    expect(await routes.list()).toEqual([]);
    expect(await routes.remove(routeId)).toBe(404);
    expect(await routes.ledger(routeId)).toEqual(['route_add', 'route_remove', 'route_remove']);
    expect((await gateway.call('GET', `/v1/routes/${routeId}/attempts`)).status).toBe(404);
  });

  it('leaves an event to the other route that holds it', async () => {
    receiver.answer((response, { path }) => response.writeHead(path === '/bad' ? 500 : 204).end());
    const good = await routes.add(receiver.url('/good'));
    const bad = await routes.add(receiver.url('/bad'));
    const id = await routes.event();
    await until(
      () => routes.log(good.id),
      ([delivery]) => delivery?.status === 'delivered',
    );
    await until(
      () => routes.stateOf(id),
      ([, attempts]) => attempts === 1,
    );
    await routes.remove(bad.id);
    expect(await routes.stateOf(id)).toEqual(['done', 1]);
    expect(await routes.claim(id)).toBe('EVENT_ROUTED');
  });

  it('gives back a long queue as well, and sends none of it', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const ids = await Promise.all(Array.from({ length: 450 }, () => routes.event()));
    await routes.remove(routeId);
    const { length: sent } = receiver.got;
    const { store } = await projectOf(gateway);
    await until(
      () => store.read(({ routes: stored }) => stored.closedWithPending()),
      (left) => left === null,
    );
    const some = [...ids.slice(0, 10), ...ids.slice(-10)];
    expect(await Promise.all(some.map((id) => routes.claim(id)))).toEqual(some.map(() => 200));
    // Those that were under way may have arrived.
    expect(receiver.got.length - sent).toBeLessThanOrEqual(16);
  });

  it('takes no more events, in the same moment', async () => {
    const { id: routeId } = await routes.add(receiver.url());
    await settled(await routes.event());
    await routes.remove(routeId);
    expect(await routes.claim(await routes.event())).toBe(200);
    expect(receiver.got).toHaveLength(1);
  });
});

describe('route_test', () => {
  it('sends a signed sample that does not come into the inbox', async () => {
    const { id, secret } = await routes.add(receiver.url(), { match_source: 'nobody' });
    receiver.answer(202);
    const answer = await gateway.call('POST', `/v1/routes/${id}/test`, { body: {} });
    const [got] = receiver.got;
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        event_id: got?.event.id,
        delivered: true,
        status_code: 202,
        duration_ms: expect.any(Number),
        error: null,
        response: 'said so',
      },
    ]);
    const verified = new Webhook(secret).verify(got?.text ?? '', got?.headers ?? {});
    expect(verified).toMatchObject({
      type: 'route.test',
      source: 'service',
      trust: 'service',
      payload: { route_id: id },
    });
    expect(await routes.events('pending')).toEqual([]);
    expect(await routes.log(id)).toEqual([]);
    expect(await routes.ledger(id)).toEqual(['route_add', 'route_test']);
  });

  it('tells what is wrong', async () => {
    const { id } = await routes.add(receiver.url());
    receiver.answer(500);
    const bad = await gateway.call('POST', `/v1/routes/${id}/test`, { body: {} });
    expect(bad.body).toMatchObject({ delivered: false, status_code: 500, response: 'said so' });
    await receiver.stop();
    const gone = await gateway.call('POST', `/v1/routes/${id}/test`, { body: {} });
    receiver = await Receiver.start();
    expect(gone.body).toMatchObject({
      delivered: false,
      status_code: null,
      error: 'The connection was refused.',
      response: null,
    });
  });
});

describe('request_callback_secret', () => {
  it('gives a secret once, and rotates it', async () => {
    const path = '/v1/request-callback-secret';
    const headers = { 'idempotency-key': 'once' };
    const first = await gateway.call('POST', path, { body: {}, headers });
    expect([first.status, first.body]).toEqual([
      201,
      {
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        created_at: expect.any(String),
        previous_valid_until: null,
      },
    ]);
    expect((await gateway.call('POST', path, { body: {}, headers })).body).toEqual(first.body);
    const second = await gateway.call<Record<string, string>>('POST', path, { body: {} });
    expect(second.body['secret']).not.toBe(first.body['secret']);
    const { created_at = '', previous_valid_until = '' } = second.body;
    expect(Date.parse(previous_valid_until) - Date.parse(created_at)).toBe(86_400_000);
    const key = await gateway.key('approvals');
    expect((await gateway.call('POST', path, { body: {}, key })).status).toBe(403);
  });
});
