import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestPeople } from '../../../gateway/approvals/people.ts';

interface Replayed {
  readonly event_ids: readonly string[];
  readonly skipped: readonly { event_id: string; reason: string }[];
  readonly next_cursor: string | null;
}

interface Shown {
  readonly status: string;
  readonly attempts: number;
  readonly result: unknown;
  readonly reason: unknown;
}

let clock: FakeClock;
let test: TestGateway;
let shop: string;
let bank: string;
let deliveries = 0;
beforeEach(async () => {
  clock = new FakeClock();
  test = await TestGateway.start({ clock });
  shop = await test.addSource({ name: 'shop' });
  bank = await test.addSource({ name: 'bank' });
});
afterEach(() => test.stop());

async function post<T = Replayed>(path: string, body: object, key?: string): Promise<T> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return (await test.call<T>('POST', path, { body, headers })).body;
}

const replay = (body: object, key?: string): Promise<Replayed> =>
  post('/v1/inbox/replay', body, key);

async function arrived(url = shop): Promise<string> {
  deliveries += 1;
  const { body } = await test.deliver(url, `{"n":${deliveries}}`);
  return String(body['event_id']);
}

async function done(url?: string): Promise<string> {
  const event_id = await arrived(url);
  await post('/v1/inbox/claim', { event_id });
  await post('/v1/inbox/ack', { event_id, result: { ok: true } });
  return event_id;
}

async function dead(url?: string): Promise<string> {
  const event_id = await arrived(url);
  await post('/v1/inbox/claim', { event_id });
  await post('/v1/inbox/nack', { event_id, reason: 'broken', retry: false });
  return event_id;
}

async function shown(id: string): Promise<Shown> {
  return (await test.call<Shown>('GET', `/v1/inbox/events/${id}`)).body;
}

async function ops(query: string): Promise<string[]> {
  const { body } = await test.call<{ items: { op: string }[] }>('GET', `/v1/ledger?${query}`);
  return body.items.map(({ op }) => op);
}

describe('inbox_replay', () => {
  it('puts dead or done events back, without result, reason and failed attempts', async () => {
    const [died, finished] = [await dead(), await done()];
    expect(await replay({ status: 'dead' })).toEqual({
      event_ids: [died],
      skipped: [],
      next_cursor: null,
    });
    expect(await replay({ status: 'done' })).toMatchObject({ event_ids: [finished] });
    for (const id of [died, finished]) {
      expect(await shown(id)).toMatchObject({ status: 'pending', attempts: 0 });
      expect(await shown(id)).not.toMatchObject({ result: expect.anything() });
      expect(await shown(id)).not.toMatchObject({ reason: expect.anything() });
      expect(await ops(`subject=${id}`)).toContain('event.replayed');
    }
  });

  it('replays one event, under the entry of its call', async () => {
    const [one, other] = [await done(), await done()];
    expect(await replay({ event_id: one })).toMatchObject({ event_ids: [one] });
    expect((await shown(other)).status).toBe('done');
    expect((await ops(`subject=${one}`))[0]).toBe('inbox_replay');
    expect(await replay({ event_id: one })).toMatchObject({
      event_ids: [],
      skipped: [{ event_id: one, reason: 'It is pending.' }],
    });
  });

  it('takes those of a source and a time', async () => {
    await done();
    clock.advance(60_000);
    const since = new Date(clock.now()).toISOString();
    const wanted = await done();
    const elsewhere = await done(bank);
    clock.advance(60_000);
    const before = new Date(clock.now()).toISOString();
    await done();
    const filter = { status: 'done', source: 'shop', since, before };
    expect(await replay(filter)).toMatchObject({ event_ids: [wanted], next_cursor: null });
    expect(await replay({ status: 'done', type: 'webhook.*', source: 'bank' })).toMatchObject({
      event_ids: [elsewhere],
    });
    expect(await replay({ status: 'done', type: 'other' })).toMatchObject({ event_ids: [] });
  });

  it('goes on after a page, and takes no event twice that is done again meanwhile', async () => {
    const ids = [await done(), await done(), await done()];
    const first = await replay({ status: 'done', limit: 2 });
    expect(first.event_ids).toEqual(ids.slice(0, 2));
    await post('/v1/inbox/claim', { event_id: ids[0] });
    await post('/v1/inbox/ack', { event_id: ids[0] });
    const second = await replay({ status: 'done', limit: 2, cursor: first.next_cursor });
    expect(second).toMatchObject({ event_ids: [ids[2]], next_cursor: null });
  });

  it('leaves an event alone that first ended while it went from page to page', async () => {
    const ids = [await done(), await done()];
    const late = await arrived();
    const first = await replay({ status: 'done', limit: 1 });
    clock.advance(1000);
    await post('/v1/inbox/claim', { event_id: late });
    await post('/v1/inbox/ack', { event_id: late });
    expect(await replay({ status: 'done', cursor: first.next_cursor })).toEqual({
      event_ids: [ids[1]],
      skipped: [{ event_id: late, reason: 'It ended after the replay began.' }],
      next_cursor: null,
    });
  });

  it('skips an event that a route delivers', async () => {
    const event_id = await arrived();
    await test.call('POST', '/v1/routes', {
      body: { callback_url: 'https://hooks.example/x', match_source: 'shop' },
    });
    const routed = await arrived();
    await post('/v1/inbox/claim', { event_id });
    await post('/v1/inbox/ack', { event_id });
    expect(await replay({ event_id: routed })).toMatchObject({ event_ids: [] });
    expect(await replay({ status: 'done' })).toMatchObject({ event_ids: [event_id] });
  });

  it('changes and records nothing in a dry run', async () => {
    const id = await done();
    const before = await ops('limit=100');
    expect(await replay({ status: 'done', dry_run: true })).toMatchObject({ event_ids: [id] });
    expect((await shown(id)).status).toBe('done');
    expect(await ops('limit=100')).toEqual(before);
  });

  it('replays once when a call is repeated', async () => {
    const id = await done();
    const key = randomUUID();
    const first = await replay({ status: 'done' }, key);
    await post('/v1/inbox/claim', { event_id: id });
    await post('/v1/inbox/ack', { event_id: id });
    expect(await replay({ status: 'done' }, key)).toEqual(first);
    expect((await shown(id)).status).toBe('done');
  });

  it('wakes who waits', async () => {
    const id = await dead();
    const project = await test.gateway.projects.find(test.projectId);
    const waiting = test.call<{ event: { id: string } }>('GET', '/v1/inbox/wait');
    await expect.poll(() => project?.waits.size, { interval: 5 }).toBe(1);
    await replay({ status: 'dead' });
    expect((await waiting).body.event.id).toBe(id);
  });

  it('skips what nobody can work again, and says why', async () => {
    const old = await done();
    clock.advance(31 * 86_400_000);
    const people = await TestPeople.of(test, clock);
    const request = await people.asked({ action: 'a' });
    await people.decide(request, { verb: 'approve' });
    const { body } = await test.call<{ items: { id: string }[] }>('GET', '/v1/inbox');
    const notice = String(body.items[0]?.id);
    await post('/v1/inbox/claim', { event_id: notice });
    await post('/v1/inbox/ack', { event_id: notice });
    expect(await replay({ status: 'done' })).toEqual({
      event_ids: [],
      skipped: [
        { event_id: old, reason: 'Its payload was deleted.' },
        { event_id: notice, reason: 'It only tells of a decision.' },
      ],
      next_cursor: null,
    });
  });

  it.each<[string, object, string]>([
    ['nothing to look for', {}, 'status'],
    ['an event and a state', { event_id: `evt_${'0'.repeat(26)}`, status: 'done' }, 'status'],
    ['an event and a filter', { event_id: `evt_${'0'.repeat(26)}`, source: 'shop' }, 'event_id'],
    ['another state', { status: 'pending' }, 'status'],
    ['an event and a cursor', { event_id: `evt_${'0'.repeat(26)}`, cursor: 'MS4x' }, 'event_id'],
    ['a cursor of another list', { status: 'done', cursor: 'MQ' }, 'cursor'],
    [
      'a time that ends before it begins',
      { status: 'done', since: '2026-11-02T00:00:00Z', before: '2026-11-01T00:00:00Z' },
      'before',
    ],
  ])('refuses %s', async (_title, body, path) => {
    const answer = await post<{ error: { code: string; details: { issues: unknown[] } } }>(
      '/v1/inbox/replay',
      body,
    );
    expect(answer.error.code).toBe('VALIDATION_FAILED');
    expect(JSON.stringify(answer.error.details)).toContain(`"${path}"`);
  });
});
