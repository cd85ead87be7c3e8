import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

interface Event {
  id: string;
  type: string;
  status: string;
  attempts: number;
  payload: unknown;
  payload_url: string | null;
  lease_id: string;
}

type Fields = Record<string, unknown>;

const json = { 'content-type': 'application/json' };

describe('the inbox, from a webhook to the ledger', () => {
  const clock = new FakeClock();
  let gateway: TestGateway;
  let github: string;
  let open: string;

  beforeAll(async () => {
    gateway = await TestGateway.start({ clock });
    github = await gateway.addSource({ name: 'github', verification: 'github', secret: 's3cret' });
    open = await gateway.addSource({ name: 'open' });
  });
  afterAll(() => gateway.stop());

  const claim = (id: string, key = gateway.apiKey, seconds = 60) =>
    gateway.call<Event & { error: { code: string } }>('POST', '/v1/inbox/claim', {
      key,
      body: { event_id: id, lease_seconds: seconds },
    });

  it('takes a signed delivery, once, and lets an agent finish it', async () => {
    const body = JSON.stringify({ action: 'opened', number: 7 });
    const headers = {
      ...json,
      'x-github-event': 'pull_request',
      'x-github-delivery': 'd-1',
      'x-hub-signature-256': `sha256=${createHmac('sha256', 's3cret').update(body).digest('hex')}`,
    };
    const first = await gateway.deliver(github, body, headers);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ status: 'accepted', event_id: expect.stringMatching(/^evt_/) });
    const again = await gateway.deliver(github, body, headers);
    expect(again.body).toEqual({ status: 'duplicate', event_id: first.body['event_id'] });

    const waited = await gateway.call<{ event: Event }>(
      'GET',
      '/v1/inbox/wait?type=pull_request.*',
    );
    expect(waited.body.event).toMatchObject({
      id: first.body['event_id'],
      type: 'pull_request.opened',
      payload: { action: 'opened', number: 7 },
      status: 'pending',
    });
    const claimed = await claim(waited.body.event.id);
    expect(claimed.body).toMatchObject({ status: 'claimed', payload: { number: 7 } });
    const acked = await gateway.call('POST', '/v1/inbox/ack', {
      body: { event_id: claimed.body.id, result: { ok: true } },
    });
    expect(acked).toMatchObject({ status: 200, body: { status: 'done' } });
    const ledger = await gateway.call<{ items: { op: string }[] }>(
      'GET',
      `/v1/ledger?subject=${claimed.body.id}`,
    );
    expect(ledger.body.items.map((entry) => entry.op)).toEqual([
      'inbox_ack',
      'inbox_claim',
      'event.received',
    ]);
    const verified = await gateway.call('POST', '/v1/ledger/verify', { body: {} });
    expect(verified.body).toMatchObject({ ok: true, anchored: true });
  });

  it('returns an event whose lease ran out, and gives up at the fifth failure', async () => {
    const { body } = await gateway.deliver(open, '{"poison":true}', json);
    const id = String(body['event_id']);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect((await claim(id)).status).toBe(200);
      clock.advance(60_000);
      const late = await gateway.call('POST', '/v1/inbox/ack', { body: { event_id: id } });
      const code = attempt < 5 ? 'LEASE_EXPIRED' : 'EVENT_NOT_CLAIMABLE';
      expect(late).toMatchObject({ status: 409, body: { error: { code } } });
    }
    const dead = await gateway.call<{ items: Event[] }>('GET', '/v1/inbox?status=dead');
    expect(dead.body.items).toMatchObject([{ id, status: 'dead', attempts: 5 }]);
    const back = await gateway.call('POST', '/v1/inbox/requeue', { body: { event_id: id } });
    expect(back.body).toEqual({ event_id: id, status: 'pending' });
  });

  it('wakes a wait that began before the event came', async () => {
    const waiting = gateway.call<{ event: Event }>(
      'GET',
      '/v1/inbox/wait?source=open&since=2026-01-02T03:10:00Z&timeout_seconds=20',
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    clock.advance(600_000);
    const { body } = await gateway.deliver(open, 'hello', { 'content-type': 'text/plain' });
    expect((await waiting).body.event).toMatchObject({
      id: body['event_id'],
      payload: { text: 'hello' },
    });
  });

  it.each([
    ['type=*a', 'type', 'Use `*` only at the end'],
    ['type=a*b', 'type', 'Use `*` only at the end'],
    ['source=No+Such+Name', 'source', 'Not a valid source name'],
  ])('refuses a filter that can never match: %s', async (query, path, message) => {
    const problem = { path, message: expect.stringContaining(message) };
    const refused = { code: 'VALIDATION_FAILED', details: { fields: [problem] } };
    for (const route of ['/v1/inbox', '/v1/inbox/wait']) {
      const answer = await gateway.call('GET', `${route}?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { error: refused } });
    }
  });

  it('warns of a filter by a source that is not there', async () => {
    const list = '/v1/inbox?limit=1&source=';
    const wait = '/v1/inbox/wait?type=never&timeout_seconds=1&source=';
    const warnings = ["There's no source `nope` yet: its events arrive only once you add it."];
    expect((await gateway.call('GET', `${list}nope`)).body).toEqual({
      items: [],
      next_cursor: null,
      warnings,
    });
    expect((await gateway.call('GET', `${wait}nope`)).body).toEqual({ event: null, warnings });
    for (const known of ['open', 'service']) {
      expect((await gateway.call('GET', `${wait}${known}`)).body).toEqual({ event: null });
      expect((await gateway.call('GET', list + known)).body).not.toHaveProperty('warnings');
    }
  });

  it('says how to get a payload that a list or a wait leaves out', async () => {
    const body = JSON.stringify({ big: 'x'.repeat(9 * 1024) });
    clock.advance(60_000);
    const since = new Date(clock.now()).toISOString();
    const { body: delivered } = await gateway.deliver(open, body, json);
    const hint = expect.stringContaining('GET /v1/inbox/events/{event_id} returns one');
    const waited = await gateway.call('GET', `/v1/inbox/wait?since=${since}&timeout_seconds=5`);
    const cut = { payload: null, payload_truncated: true };
    expect(waited.body).toMatchObject({ event: cut, hint });
    const listed = await gateway.call('GET', `/v1/inbox?since=${since}`);
    expect(listed.body).toMatchObject({ items: [cut], hint });
    const whole = await gateway.call('GET', `/v1/inbox/events/${String(delivered['event_id'])}`);
    expect(whole.body).toMatchObject({ payload: { big: expect.stringMatching(/^x{9000}/) } });
    await claim(String(delivered['event_id']));
  });

  it('keeps a large body apart and serves it by a link', async () => {
    const body = JSON.stringify({ big: 'x'.repeat(300 * 1024) });
    const delivered = await gateway.deliver(open, body, json);
    const claimed = await claim(String(delivered.body['event_id']));
    expect(claimed.body.payload).toBeNull();
    const link = claimed.body.payload_url ?? '';
    expect(await (await fetch(link)).text()).toBe(body);
    clock.advance(3_600_000);
    expect((await fetch(link)).status).toBe(404);
  });

  it('tells of an event how it ended: the reason of the latest nack, and the result of its ack', async () => {
    const id = String((await gateway.deliver(open, '{"order":1}', json)).body['event_id']);
    const look = async () => (await gateway.call('GET', `/v1/inbox/events/${id}`)).body;
    expect(await look()).toMatchObject({ status: 'pending', result: null, reason: null });
    for (const reason of ['The provider is down.', 'é'.repeat(600)]) {
      await claim(id);
      await gateway.call('POST', '/v1/inbox/nack', { body: { event_id: id, reason } });
      // Kept cut to 1 KB.
      expect(await look()).toMatchObject({ result: null, reason: reason.slice(0, 512) });
      clock.advance(600_000);
    }
    await claim(id);
    const result = { ticket: 42, note: '<b>done</b>' };
    await gateway.call('POST', '/v1/inbox/ack', { body: { event_id: id, result } });
    expect(await look()).toMatchObject({ status: 'done', attempts: 2, result });
    const listed = await gateway.call<{ items: Event[] }>('GET', '/v1/inbox?status=done&limit=100');
    expect(listed.body.items.find((event) => event.id === id)).not.toHaveProperty('result');
  });

  it('lists events in a line each, and says of dead ones why', async () => {
    const { body } = await gateway.deliver(open, '{"order":"A-1","lines":[1,2]}', json);
    const event_id = String(body['event_id']);
    const list = (query: string) =>
      gateway.call<{ items: Fields[] }>('GET', `/v1/inbox?source=open&${query}`);
    const [line] = (await list('brief=true')).body.items.slice(-1);
    expect(line).toMatchObject({ id: event_id, gist: 'A-1', payload: null });
    expect(line).toMatchObject({ payload_truncated: true, status: 'pending' });
    expect(line).not.toHaveProperty('headers');
    expect(line).not.toHaveProperty('reason');
    await claim(event_id);
    const reason = 'No such order.';
    await gateway.call('POST', '/v1/inbox/nack', { body: { event_id, reason, retry: false } });
    const [dead] = (await list('status=dead')).body.items.slice(-1);
    expect(dead).toMatchObject({ id: event_id, reason, payload: { order: 'A-1' } });
    expect(dead).not.toHaveProperty('gist');
  });

  it('says in a line what an event is about whose payload a list leaves out', async () => {
    const title = 'Read the time zone from the harbour';
    const payload = {
      repository: {},
      sender: {},
      issue: { number: 7, title },
      body: 'x'.repeat(20_000),
    };
    const { body } = await gateway.deliver(open, JSON.stringify(payload), json);
    const gist = async (key: string) => {
      const listed = await gateway.call<{ items: Fields[] }>(
        'GET',
        '/v1/inbox?source=open&brief=true&limit=100',
        { key },
      );
      return listed.body.items.find(({ id }) => id === body['event_id']);
    };
    const whole = { gist: `#7  ${title}`, payload: null, payload_truncated: true };
    expect(await gist(gateway.apiKey)).toMatchObject(whole);
    // Who couldn't claim the event doesn't read its payload.
    expect(await gist(await gateway.key('inbox:read'))).toMatchObject({ ...whole, gist: '' });
  });

  it('makes lines of the first ten large payloads of a page, so that nobody waits for all', async () => {
    const large = { repository: {}, sender: {}, body: 'x'.repeat(9_000) };
    for (let n = 0; n < 12; n += 1) {
      const payload = { ...large, issue: { number: n, title: `large ${n}` } };
      await gateway.deliver(open, JSON.stringify(payload), json);
    }
    const path = '/v1/inbox?source=open&brief=true&newest=true&limit=12';
    const listed = await gateway.call<{ items: { gist: string }[] }>('GET', path);
    const gists = listed.body.items.map(({ gist }) => gist);
    expect(gists.filter((line) => line.includes('large'))).toHaveLength(10);
    expect(gists.slice(10)).toEqual(['', '']);
  });

  it('cuts a reason of any length, and never refuses it', async () => {
    const id = String((await gateway.deliver(open, '{"order":2}', json)).body['event_id']);
    await claim(id);
    const reason = 'a stack trace\n'.repeat(7000);
    const given = await gateway.call('POST', '/v1/inbox/nack', { body: { event_id: id, reason } });
    expect(given).toMatchObject({ status: 200, body: { status: 'failed' } });
    const { body } = await gateway.call('GET', `/v1/inbox/events/${id}`);
    expect(body).toMatchObject({ reason: reason.slice(0, 1024) });
  });

  it('gives the whole of a payload over 8 KB to keys alone that could claim it', async () => {
    const payload = { big: 'x'.repeat(9000) };
    const { body } = await gateway.deliver(open, JSON.stringify(payload), json);
    const small = await gateway.deliver(open, '{"small":true}', json);
    const look = async (id: unknown, key: string) =>
      (await gateway.call('GET', `/v1/inbox/events/${String(id)}`, { key })).body;
    const reader = await gateway.key('inbox:read');
    const worker = await gateway.key('inbox:read', 'inbox:write');
    expect(await look(body['event_id'], reader)).toMatchObject({
      payload: null,
      payload_truncated: true,
    });
    expect(await look(body['event_id'], worker)).toMatchObject({
      payload,
      payload_truncated: false,
    });
    expect(await look(small.body['event_id'], reader)).toMatchObject({
      payload: { small: true },
      payload_truncated: false,
    });
    const apart = JSON.stringify({ big: 'y'.repeat(300 * 1024) });
    const large = await gateway.deliver(open, apart, json);
    for (const key of [reader, worker]) {
      const seen = await look(large.body['event_id'], key);
      expect(seen).toMatchObject({ payload: null, payload_url: null, payload_truncated: true });
    }
  });
});
