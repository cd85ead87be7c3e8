import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { TestPeople, type Asked } from './people.ts';

interface Event {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly waiting_for?: { id: string; status: string }[];
  readonly wakes_at?: string;
  readonly parks?: number;
  readonly payload: unknown;
  readonly payload_purged: boolean;
  readonly reason?: string | null;
  readonly lease_id?: string;
  readonly resumed?: {
    parks: number;
    because: string;
    answers: Asked[];
    waited_for: { id: string; status: string }[];
    state: unknown;
  };
  readonly error?: { code: string; details?: { fields?: { path: string; message: string }[] } };
}

const DAY_MS = 86_400_000;

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let url: string;
let deliveries = 0;
beforeEach(async () => {
  clock = new FakeClock();
  test = await TestGateway.start({ clock });
  people = await TestPeople.of(test, clock);
  url = await test.addSource({ name: 'open' });
});
afterEach(() => test.stop());

async function post(path: string, body: unknown, key?: string) {
  return test.call<Event>('POST', path, { body, ...(key !== undefined && { key }) });
}

async function arrived(): Promise<string> {
  deliveries += 1;
  return String((await test.deliver(url, `{"n":${deliveries}}`)).body['event_id']);
}

const claim = async (event_id: string) => (await post('/v1/inbox/claim', { event_id })).body;
const nack = (body: Record<string, unknown>) => post('/v1/inbox/nack', body);
const event = async (id: string) => (await test.call<Event>('GET', `/v1/inbox/events/${id}`)).body;

async function claimed(): Promise<string> {
  const id = await arrived();
  await claim(id);
  return id;
}

/** Asks about an event and parks it. */
async function askAndPark(event_id: string, more: Record<string, unknown> = {}) {
  return (await people.ask({ event_id, park: true, ...more })).body as Asked & { parked?: boolean };
}

async function resolvedEvents(status: string) {
  const path = `/v1/inbox?type=request.resolved&status=${status}`;
  return (await test.call<{ items: Event[] }>('GET', path)).body.items;
}

const operations = async (subject: string) => {
  const { body } = await test.call<{ items: { op: string }[] }>(
    'GET',
    `/v1/ledger?subject=${subject}`,
  );
  return body.items.map(({ op }) => op).toReversed();
};

describe('an event parked on a question', () => {
  it('waits, wakes with the answer, and keeps its place', async () => {
    const id = await claimed();
    const later = await arrived();
    const asked = await askAndPark(id, { state: { step: 2 }, bind: { sha: 'a1' } });
    expect(asked).toMatchObject({ status: 'pending', parked: true });
    const expires_at = asked.expires_at;
    expect(await event(id)).toMatchObject({
      status: 'waiting',
      attempts: 0,
      waiting_for: [{ id: asked.request_id, status: 'pending', expires_at }],
      wakes_at: expires_at,
    });
    expect((await post('/v1/inbox/claim', { event_id: id })).body.error?.code).toBe(
      'EVENT_NOT_CLAIMABLE',
    );
    await people.decide(asked.request_id, { verb: 'approve', comment: 'go' });
    const next = await test.call<{ event: Event }>('GET', '/v1/inbox/wait?timeout_seconds=1');
    expect(next.body.event).toMatchObject({ id, status: 'pending' });
    const answer = { request_id: asked.request_id, status: 'approved', comment: 'go' };
    expect((await claim(id)).resumed).toMatchObject({
      parks: 1,
      because: asked.request_id,
      answers: [answer],
      waited_for: [{ id: asked.request_id, status: 'approved' }],
      state: { step: 2 },
    });
    expect((await claim(later)).resumed).toBeUndefined();
    expect(await operations(id)).toEqual([
      'event.received',
      'inbox_claim',
      'event.parked',
      'inbox_claim',
      'event.resumed',
      'inbox_claim',
    ]);
  });

  it('leaves nobody a request.resolved to work', async () => {
    const id = await claimed();
    const { request_id } = await askAndPark(id);
    await people.decide(request_id, { verb: 'deny' });
    expect(await resolvedEvents('pending')).toEqual([]);
    expect(await resolvedEvents('done')).toHaveLength(1);
  });

  it('wakes with expired when nobody decides', async () => {
    const id = await claimed();
    const { request_id } = await askAndPark(id, { expires_in: '1h' });
    clock.advance(3_600_000);
    await people.maintenance();
    expect((await claim(id)).resumed).toMatchObject({
      because: request_id,
      answers: [{ status: 'expired' }],
    });
  });

  it('is asked about once, in whatever words, and finds the answer', async () => {
    const id = await claimed();
    const first = await askAndPark(id, { bind: { n: 1 } });
    await people.decide(first.request_id, { verb: 'approve' });
    await claim(id);
    const again = await askAndPark(id, { bind: { n: 1 }, summary: 'In other words' });
    expect(again).toMatchObject({ request_id: first.request_id, status: 'approved' });
    expect(again.parked).toBeUndefined();
    expect((await event(id)).status).toBe('claimed');
  });

  it('is asked anew about other values, and the open question is withdrawn as replaced', async () => {
    const id = await claimed();
    const { body: first } = await people.ask({ event_id: id, bind: { sha: 'a' } });
    const second = await askAndPark(id, { bind: { sha: 'b' } });
    expect(second.request_id).not.toBe(first.request_id);
    expect(await people.status(first.request_id)).toMatchObject({
      status: 'expired',
      hint: expect.stringMatching(/^withdrawn: replaced/),
    });
    const third = await people.ask({ event_id: id, bind: { sha: 'b ' } });
    expect(third.body.request_id).not.toBe(second.request_id);
  });

  it('without values is another question for another amount', async () => {
    const id = await claimed();
    const { body: ten } = await people.ask({ event_id: id, amount: 10 });
    const { body: same } = await people.ask({ event_id: id, amount: 10, summary: 'Again' });
    const { body: more } = await people.ask({ event_id: id, amount: 999 });
    expect(same.request_id).toBe(ten.request_id);
    expect(more.request_id).not.toBe(ten.request_id);
  });

  it('is not parked when the policy decides', async () => {
    await people.setPolicy({ effect: 'auto_approve' });
    const id = await claimed();
    const answer = await askAndPark(id);
    expect(answer).toMatchObject({ status: 'approved' });
    expect(answer.parked).toBeUndefined();
    expect((await event(id)).status).toBe('claimed');
    const done = await resolvedEvents('done');
    expect(done.map(({ payload }) => payload)).toMatchObject([{ request_id: answer.request_id }]);
  });

  it('asks anew where more was to be said', async () => {
    const id = await claimed();
    const first = await askAndPark(id);
    await people.decide(first.request_id, { verb: 'needs_context', comment: 'Which one?' });
    expect((await claim(id)).resumed).toMatchObject({ answers: [{ comment: 'Which one?' }] });
    const second = await askAndPark(id, { details: 'This one.' });
    expect(second.request_id).not.toBe(first.request_id);
    expect(second.parked).toBe(true);
  });

  it('is withdrawn when its event is finished', async () => {
    const id = await claimed();
    const { body: open } = await people.ask({ event_id: id });
    await post('/v1/inbox/ack', { event_id: id });
    expect(await people.status(open.request_id)).toMatchObject({
      status: 'expired',
      hint: 'withdrawn: its event is done.',
    });
    const late = await people.ask({ event_id: id });
    expect(late.body.error?.code).toBe('EVENT_NOT_CLAIMABLE');
  });

  it('goes on at once when it is put back by hand, and its question stays', async () => {
    const id = await claimed();
    const { request_id } = await askAndPark(id);
    expect((await post('/v1/inbox/requeue', { event_id: id })).status).toBe(200);
    expect((await claim(id)).resumed).toMatchObject({
      because: 'requeued',
      answers: [{ request_id, status: 'pending' }],
    });
    expect((await people.status(request_id)).status).toBe('pending');
  });
});

describe('several conditions', () => {
  it('wake the event when all have ended', async () => {
    const id = await claimed();
    const a = await people.asked({ action: 'a' });
    const b = await people.asked({ action: 'b' });
    const { body } = await nack({ event_id: id, until: [a, b] });
    expect(body).toMatchObject({ status: 'waiting', parks: 1 });
    await people.decide(a, { verb: 'approve' });
    expect(await event(id)).toMatchObject({
      status: 'waiting',
      waiting_for: [{ status: 'approved' }, { status: 'pending' }],
    });
    await people.decide(b, { verb: 'approve' });
    expect((await claim(id)).resumed?.because).toBe(b);
  });

  it('wake it at the first that is not a yes', async () => {
    const id = await claimed();
    const a = await people.asked({ action: 'a' });
    const b = await people.asked({ action: 'b' });
    await nack({ event_id: id, until: [a, b] });
    await people.decide(a, { verb: 'deny' });
    expect((await claim(id)).resumed).toMatchObject({ because: a });
  });

  it('wake it at the first with any', async () => {
    const id = await claimed();
    const a = await people.asked({ action: 'a' });
    await nack({ event_id: id, until: [a, '+2h'], any: true });
    expect((await event(id)).wakes_at).toBe(new Date(clock.now() + 7_200_000).toISOString());
    clock.advance(7_200_000);
    // Time needs no maintenance.
    expect((await claim(id)).resumed).toMatchObject({
      waited_for: [{ id: a, status: 'pending' }, { status: 'reached' }],
    });
  });
});

describe('an event parked on another', () => {
  it.each([
    ['ack', 'done'],
    ['nack', 'dead'],
  ])('goes on after %s of that: %s', async (verb, status) => {
    const id = await claimed();
    const other = await claimed();
    await nack({ event_id: id, until: [other] });
    const more = verb === 'nack' ? { reason: 'no', retry: false } : {};
    await post(`/v1/inbox/${verb}`, { event_id: other, ...more });
    expect((await claim(id)).resumed?.waited_for).toEqual([{ id: other, status }]);
  });

  it('goes on after a week in any case', async () => {
    const id = await claimed();
    const other = await arrived();
    await nack({ event_id: id, until: [other] });
    clock.advance(7 * DAY_MS);
    await people.maintenance();
    expect((await claim(id)).resumed?.waited_for).toEqual([{ id: other, status: 'expired' }]);
  });
});

describe('a park', () => {
  it('is no failure, and resets the failures before', async () => {
    const id = await claimed();
    await nack({ event_id: id, reason: 'busy' });
    clock.advance(30_000);
    await claim(id);
    await nack({ event_id: id, until: ['+1h'] });
    expect(await event(id)).toMatchObject({ status: 'waiting', attempts: 1 });
    clock.advance(3_600_000);
    expect(await event(id)).toMatchObject({ status: 'pending', attempts: 0 });
  });

  it('on what has ended gives the event back at once, with the answer', async () => {
    const id = await claimed();
    const { body: asked } = await people.ask({ event_id: id });
    await people.decide(asked.request_id, { verb: 'approve' });
    const { body } = await nack({ event_id: id, until: [asked.request_id] });
    expect(body).toMatchObject({ status: 'pending', attempts: 0 });
    expect((await claim(id)).resumed).toMatchObject({ answers: [{ status: 'approved' }] });
  });

  it('counts 25 times, then makes the event dead and says why', async () => {
    const id = await claimed();
    const { body: open } = await people.ask({ event_id: id });
    for (let parks = 1; parks <= 25; parks += 1) {
      const { body } = await nack({ event_id: id, until: ['+1m'] });
      expect(body).toMatchObject({ status: 'waiting', parks });
      clock.advance(60_000);
      await claim(id);
    }
    const { body } = await nack({ event_id: id, until: ['+1m'] });
    expect(body).toMatchObject({ status: 'dead', parks: 26 });
    expect(await event(id)).toMatchObject({ reason: 'The event was parked 25 times.' });
    expect((await people.status(open.request_id)).status).toBe('expired');
  });

  it('keeps the payload past 30 days, until the event ends', async () => {
    const id = await claimed();
    const [first] = [await arrived()];
    for (let weeks = 0; weeks < 5; weeks += 1) {
      await nack({ event_id: id, until: ['+7d'] });
      clock.advance(7 * DAY_MS);
      await people.maintenance();
      expect(await claim(id)).toMatchObject({ payload: { text: expect.any(String) } });
    }
    expect(await event(first)).toMatchObject({ payload: null, payload_purged: true });
    await post('/v1/inbox/ack', { event_id: id });
    expect(await event(id)).toMatchObject({ payload: null, payload_purged: true });
  });

  it('until now gives the event back and counts nothing', async () => {
    const id = await claimed();
    const { body } = await nack({ event_id: id, until: ['now'] });
    expect(body).toMatchObject({ status: 'pending', attempts: 0, retry_at: null });
    expect((await claim(id)).resumed).toBeUndefined();
  });

  it('needs the lease', async () => {
    const id = await arrived();
    const parked = { event_id: id, until: ['+1h'] };
    expect((await nack(parked)).body.error?.code).toBe('EVENT_NOT_CLAIMABLE');
    await claim(id);
    const other = await test.key('inbox:read', 'inbox:write');
    expect((await post('/v1/inbox/nack', parked, other)).body.error?.code).toBe('LEASE_NOT_HELD');
    expect((await nack({ ...parked, lease_id: 'lse_x' })).body.error?.code).toBe('LEASE_NOT_HELD');
    expect((await nack(parked)).body.status).toBe('waiting');
    expect((await nack(parked)).body.error?.code).toBe('EVENT_NOT_CLAIMABLE');
  });

  it.each([
    [['req_00000000000000000000000000'], 'until.0', 'No such request.'],
    [['evt_00000000000000000000000000'], 'until.0', 'No such event.'],
    [['+1h', '+1h'], 'until.1', 'Name each condition once.'],
    [['+1h', 'now'], 'until.1', '`now` stands alone.'],
    [['+31d'], 'until.0', 'At most 30 days from now.'],
    [['tomorrow'], 'until.0', expect.stringMatching(/^Expected `req_…`/)],
    [['+1m', '+2m', '+3m', '+4m', '+5m', '+6m'], 'until', expect.stringMatching(/5/)],
    [[], 'until', expect.anything()],
  ])('until %j is refused, and the lease stays', async (until, path, message) => {
    const id = await claimed();
    const { status, body } = await nack({ event_id: id, until });
    expect(status).toBe(400);
    expect(body.error?.details?.fields).toMatchObject([{ path, message }]);
    expect((await event(id)).status).toBe('claimed');
  });

  it('on the question of another event is refused', async () => {
    const other = await claimed();
    const { body: asked } = await people.ask({ event_id: other });
    const id = await claimed();
    const { body } = await nack({ event_id: id, until: [asked.request_id] });
    expect(body.error?.details?.fields).toMatchObject([{ message: expect.stringMatching(other) }]);
    const itself = await nack({ event_id: id, until: [id] });
    expect(itself.body.error?.code).toBe('VALIDATION_FAILED');
  });

  it('without a reason or a condition is refused', async () => {
    const id = await claimed();
    const { body } = await nack({ event_id: id });
    expect(body.error?.details?.fields).toMatchObject([{ path: 'reason' }]);
  });

  it('of an ask needs an event, its lease and the scope', async () => {
    const { body } = await people.ask({ park: true });
    expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED' });
    const id = await arrived();
    expect((await people.ask({ event_id: id, park: true })).body.error?.code).toBe(
      'EVENT_NOT_CLAIMABLE',
    );
    const key = await test.key('approvals');
    await claim(id);
    const refused = await people.ask({ event_id: id, park: true }, { key });
    expect(refused.body.error?.code).toBe('SCOPE_MISSING');
  });
});

describe('a withdrawal', () => {
  it('ends the request, wakes its event and tells why', async () => {
    const id = await claimed();
    const { request_id } = await askAndPark(id);
    const { body } = await post(`/v1/requests/${request_id}/withdraw`, { reason: 'too late' });
    const ended = { status: 'expired', withdrawn: true, hint: 'withdrawn: too late' };
    expect(body).toMatchObject(ended);
    expect((await claim(id)).resumed).toMatchObject({ answers: [{ status: 'expired' }] });
    expect(await operations(request_id)).toContain('request.withdrawn');
    const again = await post(`/v1/requests/${request_id}/withdraw`, {});
    expect(again.body).toMatchObject({ ...ended, withdrawn: false });
  });

  it('that comes after the decision changes nothing and says so', async () => {
    const id = await people.asked();
    await people.decide(id, { verb: 'approve' });
    const { body } = await post(`/v1/requests/${id}/withdraw`, {});
    expect(body).toMatchObject({ status: 'approved', withdrawn: false });
  });

  it('is for the key that asked, or an admin', async () => {
    const id = await people.asked();
    const key = await test.key('approvals');
    const { body } = await post(`/v1/requests/${id}/withdraw`, {}, key);
    expect(body.error?.code).toBe('SCOPE_MISSING');
    expect((await people.status(id)).status).toBe('pending');
  });
});
