import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../../shared/operations/index.ts';
import { caller } from '../../helpers/calls.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';

let clock: FakeClock;
let gateway: TestGateway;
let url: string;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  url = await gateway.addSource({ name: 'open' });
});
afterEach(() => gateway.stop());

const post = (path: string, body: unknown, idempotencyKey: string, key = gateway.apiKey) =>
  gateway.call('POST', path, { body, key, headers: { 'idempotency-key': idempotencyKey } });

async function newEvent(text = 'one'): Promise<string> {
  return String((await gateway.deliver(url, text)).body['event_id']);
}

const mark = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed');

describe('an Idempotency-Key', () => {
  it('gives a repeated claim the same lease and the whole event', async () => {
    const event_id = await newEvent();
    const first = await post('/v1/inbox/claim', { event_id }, 'claim-1');
    expect(first.status).toBe(200);
    const again = await post('/v1/inbox/claim', { event_id }, 'claim-1');
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    const other = await post('/v1/inbox/claim', { event_id }, 'claim-2');
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'EVENT_NOT_CLAIMABLE' } } });
  });

  it('gives a repeated creation of a key the same secret, and makes one key', async () => {
    const body = { name: 'once', scopes: ['inbox:read'] };
    const first = await post('/v1/keys', body, 'key-1');
    expect(first.status).toBe(201);
    const again = await post('/v1/keys', body, 'key-1');
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    const { body: list } = await gateway.call<{ items: unknown[] }>('GET', '/v1/keys');
    expect(list.items).toHaveLength(2);
    // The stored answer holds a secret: in the file it is sealed.
    const project = await gateway.gateway.projects.find(gateway.projectId);
    const found = await project?.store.read(({ keys, idempotency }) =>
      keys.active('').then(async ([key]) => idempotency.find(key?.id ?? '', 'key-1', clock.now())),
    );
    const sealed = Buffer.from(found?.committed ?? []);
    expect(sealed.length).toBeGreaterThan(100);
    expect(sealed.includes('svc_live_')).toBe(false);
  });

  it('knows a question again whose repeat waits for less, and asks it once', async () => {
    const question = { question: 'Which region?' };
    const first = await post('/v1/requests', { ...question, wait_seconds: 1 }, 'ask');
    const again = await post('/v1/requests', { ...question, wait_seconds: 0 }, 'ask');
    expect(again.status).toBe(200);
    expect(again.body['request_id']).toBe(first.body['request_id']);
    const other = await post('/v1/requests', { question: 'Which one?', wait_seconds: 0 }, 'ask');
    expect(other.body).toMatchObject({ error: { code: 'VALIDATION_FAILED' } });
  });

  it('gives a repeated claim that waited the same lease, though the repeat waits for less', async () => {
    await newEvent();
    const first = await post('/v1/inbox/next', { timeout_seconds: 30 }, 'next');
    const again = await post('/v1/inbox/next', { timeout_seconds: 1 }, 'next');
    expect(first.body['items']).toHaveLength(1);
    expect(again.body).toEqual(first.body);
  });

  it('gives a repeated nack one failure', async () => {
    const event_id = await newEvent();
    await post('/v1/inbox/claim', { event_id }, 'claim');
    const first = await post('/v1/inbox/nack', { event_id, reason: 'no' }, 'nack');
    const again = await post('/v1/inbox/nack', { event_id, reason: 'no' }, 'nack');
    expect(again.body).toEqual(first.body);
    expect(again.body).toMatchObject({ attempts: 1 });
  });

  it('with another body, or for another operation, is refused', async () => {
    const event_id = await newEvent();
    await post('/v1/inbox/claim', { event_id }, 'same');
    const details = { fields: [{ path: 'Idempotency-Key' }] };
    const refused = { status: 400, body: { error: { code: 'VALIDATION_FAILED', details } } };
    expect(await post('/v1/inbox/claim', { event_id, lease_seconds: 60 }, 'same')).toMatchObject(
      refused,
    );
    expect(await post('/v1/inbox/ack', { event_id }, 'same')).toMatchObject(refused);
  });

  it('counts the order of members and defaults as nothing', async () => {
    const event_id = await newEvent();
    const first = await post('/v1/inbox/claim', { event_id, lease_seconds: 300 }, 'same');
    expect((await post('/v1/inbox/claim', { lease_seconds: 300, event_id }, 'same')).body).toEqual(
      first.body,
    );
    expect((await post('/v1/inbox/claim', { event_id }, 'same')).body).toEqual(first.body);
  });

  it('belongs to its key: another key may use the same', async () => {
    const other = await gateway.key('inbox:write');
    const [one, two] = [await newEvent('one'), await newEvent('two')];
    expect((await post('/v1/inbox/claim', { event_id: one }, 'shared')).status).toBe(200);
    const answer = await post('/v1/inbox/claim', { event_id: two }, 'shared', other);
    expect(answer).toMatchObject({ status: 200, body: { id: two } });
  });

  it('whose call is still running is IDEMPOTENCY_IN_PROGRESS, and has one effect', async () => {
    const event_id = await newEvent();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post('/v1/inbox/claim', { event_id }, 'race')),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeGreaterThan(0);
    expect(new Set(won.map(({ body }) => body['lease_id'])).size).toBe(1);
    for (const answer of answers) {
      if (answer.status === 200) continue;
      expect(answer).toMatchObject({
        status: 409,
        body: { error: { code: 'IDEMPOTENCY_IN_PROGRESS', details: { retry_after: 1 } } },
      });
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    const path = '/v1/ledger?op=inbox_claim';
    const { body } = await gateway.call<{ items: unknown[] }>('GET', path);
    expect(body.items).toHaveLength(1);
  });

  it('is taken from the moment the first call begins', async () => {
    const event_id = await newEvent();
    const { identity } = await caller(gateway, gateway.apiKey);
    const named = { ...identity, idempotencyKey: 'same moment' };
    const claim = operations.find(({ name }) => name === 'inbox_claim');
    if (!claim) throw new Error('no claim');
    const { executor } = gateway.gateway;
    const { signal } = new AbortController();
    const run = async () => (await executor.execute(claim, { event_id }, named, signal)).value;
    const settled = await Promise.allSettled([run(), run()]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(settled[1]).toMatchObject({ reason: { code: 'IDEMPOTENCY_IN_PROGRESS', status: 409 } });
    const [first] = settled;
    expect(await run()).toEqual(first?.status === 'fulfilled' ? first.value : null);
  });

  it('marks what a repeat gets, and nothing else', async () => {
    const body = { name: 'once', scopes: ['inbox:read'] };
    expect(mark(await post('/v1/keys', body, 'first'))).toBeNull();
    expect(mark(await post('/v1/keys', body, 'first'))).toBe('true');
    expect(mark(await post('/v1/keys', body, 'second'))).toBeNull();
    expect(mark(await post('/v1/keys', { ...body, name: 'other' }, 'first'))).toBeNull();
    // Waits of both kinds: for what comes, and for a person.
    await newEvent();
    const next = () => post('/v1/inbox/next', { timeout_seconds: 1 }, 'next');
    expect([mark(await next()), mark(await next())]).toEqual([null, 'true']);
    const question = { question: 'Which region?', wait_seconds: 0 };
    const ask = () => post('/v1/requests', question, 'ask');
    expect([mark(await ask()), mark(await ask())]).toEqual([null, 'true']);
    // A read takes no key.
    const headers = { 'idempotency-key': 'first' };
    expect(mark(await gateway.call('GET', '/v1/keys', { headers }))).toBeNull();
  });

  it('of a refused call is free for another try', async () => {
    const event_id = await newEvent();
    expect((await post('/v1/inbox/ack', { event_id }, 'retry')).status).toBe(409);
    await post('/v1/inbox/claim', { event_id }, 'claim');
    expect((await post('/v1/inbox/ack', { event_id }, 'retry')).status).toBe(200);
  });

  it('is forgotten after 24 hours', async () => {
    const body = { name: 'once', scopes: ['inbox:read'] };
    const first = await post('/v1/keys', body, 'day');
    clock.advance(86_400_000 - 1);
    expect((await post('/v1/keys', body, 'day')).body).toEqual(first.body);
    clock.advance(1);
    expect((await post('/v1/keys', body, 'day')).body['id']).not.toBe(first.body['id']);
  });

  it.each(['', 'x'.repeat(256), 'tab\there', 'é'])('that is %j is refused', async (name) => {
    const event_id = await newEvent(`bad ${name.length}`);
    const answer = await post('/v1/inbox/claim', { event_id }, name);
    expect(answer.status).toBe(400);
  });
});
