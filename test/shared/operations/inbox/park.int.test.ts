import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ParkStage } from './park-stage.ts';

const DAY_MS = 86_400_000;

let stage: ParkStage;
beforeEach(async () => {
  stage = await ParkStage.start();
});
afterEach(() => stage.stop());

describe('several conditions', () => {
  it('wake the event when all have ended', async () => {
    const id = await stage.claimed();
    const a = await stage.people.asked({ action: 'a' });
    const b = await stage.people.asked({ action: 'b' });
    const { body } = await stage.nack({ event_id: id, until: [a, b] });
    expect(body).toMatchObject({ status: 'waiting', parks: 1 });
    await stage.people.decide(a, { verb: 'approve' });
    expect(await stage.event(id)).toMatchObject({
      status: 'waiting',
      waiting_for: [{ status: 'approved' }, { status: 'pending' }],
    });
    await stage.people.decide(b, { verb: 'approve' });
    expect((await stage.claim(id)).resumed?.because).toBe(b);
  });

  it('wake it at the first that is not a yes', async () => {
    const id = await stage.claimed();
    const a = await stage.people.asked({ action: 'a' });
    const b = await stage.people.asked({ action: 'b' });
    await stage.nack({ event_id: id, until: [a, b] });
    await stage.people.decide(a, { verb: 'deny' });
    expect((await stage.claim(id)).resumed).toMatchObject({ because: a });
  });

  it('wake it at the first with any', async () => {
    const id = await stage.claimed();
    const a = await stage.people.asked({ action: 'a' });
    await stage.nack({ event_id: id, until: [a, '+2h'], any: true });
    expect((await stage.event(id)).wakes_at).toBe(
      new Date(stage.clock.now() + 7_200_000).toISOString(),
    );
    stage.clock.advance(7_200_000);
    // Time needs no maintenance.
    expect((await stage.claim(id)).resumed).toMatchObject({
      waited_for: [{ id: a, status: 'pending' }, { status: 'reached' }],
    });
  });
});

describe('an event parked on another', () => {
  it.each([
    ['ack', 'done'],
    ['nack', 'dead'],
  ])('goes on after %s of that: %s', async (verb, status) => {
    const id = await stage.claimed();
    const other = await stage.claimed();
    await stage.nack({ event_id: id, until: [other] });
    const more = verb === 'nack' ? { reason: 'no', retry: false } : {};
    await stage.post(`/v1/inbox/${verb}`, { event_id: other, ...more });
    expect((await stage.claim(id)).resumed?.waited_for).toEqual([{ id: other, status }]);
  });

  it('goes on after a week in any case', async () => {
    const id = await stage.claimed();
    const other = await stage.arrived();
    await stage.nack({ event_id: id, until: [other] });
    stage.clock.advance(7 * DAY_MS);
    await stage.people.maintenance();
    expect((await stage.claim(id)).resumed?.waited_for).toEqual([{ id: other, status: 'expired' }]);
  });
});

describe('a park', () => {
  it('is no failure, and resets the failures before', async () => {
    const id = await stage.claimed();
    await stage.nack({ event_id: id, reason: 'busy' });
    stage.clock.advance(30_000);
    await stage.claim(id);
    await stage.nack({ event_id: id, until: ['+1h'] });
    expect(await stage.event(id)).toMatchObject({ status: 'waiting', attempts: 1 });
    stage.clock.advance(3_600_000);
    expect(await stage.event(id)).toMatchObject({ status: 'pending', attempts: 0 });
  });

  it('on what has ended gives the event back at once, with the answer', async () => {
    const id = await stage.claimed();
    const { body: asked } = await stage.people.ask({ event_id: id });
    await stage.people.decide(asked.request_id, { verb: 'approve' });
    const { body } = await stage.nack({ event_id: id, until: [asked.request_id] });
    expect(body).toMatchObject({ status: 'pending', attempts: 0 });
    expect((await stage.claim(id)).resumed).toMatchObject({ answers: [{ status: 'approved' }] });
  });

  it('counts 25 times, then makes the event dead and says why', async () => {
    const id = await stage.claimed();
    const { body: open } = await stage.people.ask({ event_id: id });
    for (let parks = 1; parks <= 25; parks += 1) {
      const { body } = await stage.nack({ event_id: id, until: ['+1m'] });
      expect(body).toMatchObject({ status: 'waiting', parks });
      stage.clock.advance(60_000);
      await stage.claim(id);
    }
    const { body } = await stage.nack({ event_id: id, until: ['+1m'] });
    expect(body).toMatchObject({ status: 'dead', parks: 26 });
    expect(await stage.event(id)).toMatchObject({ reason: 'The event was parked 25 times.' });
    expect((await stage.people.status(open.request_id)).status).toBe('expired');
  });

  it('keeps the payload past 30 days, until the event ends', async () => {
    const id = await stage.claimed();
    const first = await stage.arrived();
    for (let weeks = 0; weeks < 5; weeks += 1) {
      await stage.nack({ event_id: id, until: ['+7d'] });
      stage.clock.advance(7 * DAY_MS);
      await stage.people.maintenance();
      expect(await stage.claim(id)).toMatchObject({ payload: { text: expect.any(String) } });
    }
    expect(await stage.event(first)).toMatchObject({ payload: null, payload_purged: true });
    await stage.post('/v1/inbox/ack', { event_id: id });
    expect(await stage.event(id)).toMatchObject({ payload: null, payload_purged: true });
  });

  it('until now gives the event back and counts nothing', async () => {
    const id = await stage.claimed();
    const { body } = await stage.nack({ event_id: id, until: ['now'] });
    expect(body).toMatchObject({ status: 'pending', attempts: 0, retry_at: null });
    expect((await stage.claim(id)).resumed).toBeUndefined();
  });

  it('needs the lease', async () => {
    const id = await stage.arrived();
    const parked = { event_id: id, until: ['+1h'] };
    expect((await stage.nack(parked)).body.error?.code).toBe('EVENT_NOT_CLAIMABLE');
    await stage.claim(id);
    const other = await stage.test.key('inbox:read', 'inbox:write');
    expect((await stage.post('/v1/inbox/nack', parked, other)).body.error?.code).toBe(
      'LEASE_NOT_HELD',
    );
    expect((await stage.nack({ ...parked, lease_id: 'lse_x' })).body.error?.code).toBe(
      'LEASE_NOT_HELD',
    );
    expect((await stage.nack(parked)).body.status).toBe('waiting');
    expect((await stage.nack(parked)).body.error?.code).toBe('EVENT_NOT_CLAIMABLE');
  });

  it('that would make events wait for each other is refused, and the lease stays', async () => {
    const [a, b, c] = [await stage.claimed(), await stage.claimed(), await stage.claimed()];
    const message =
      'That event waits for this one, itself or through others: none of them would go on.';
    await stage.nack({ event_id: a, until: [b] });
    const two = await stage.nack({ event_id: b, until: ['+1h', a] });
    expect([two.status, two.body.error]).toMatchObject([
      400,
      { code: 'VALIDATION_FAILED', details: { fields: [{ path: 'until.1', message }] } },
    ]);
    expect((await stage.event(b)).status).toBe('claimed');
    await stage.nack({ event_id: b, until: [c] });
    const three = await stage.nack({ event_id: c, until: [a] });
    expect(three.body.error?.details).toEqual({ fields: [{ path: 'until.0', message }] });
    // Whatever ends the wait of one of them, the others go on.
    await stage.post('/v1/inbox/ack', { event_id: c });
    expect((await stage.event(b)).status).toBe('pending');
    await stage.claim(b);
    await stage.post('/v1/inbox/ack', { event_id: b });
    expect((await stage.event(a)).status).toBe('pending');
  });

  it('may name an event that waits for this one, where something else wakes one of them', async () => {
    const [a, b] = [await stage.claimed(), await stage.claimed()];
    await stage.nack({ event_id: a, until: [b, '+1h'], any: true });
    expect((await stage.nack({ event_id: b, until: [a] })).body.status).toBe('waiting');
    stage.clock.advance(3_600_000);
    expect((await stage.claim(a)).resumed?.waited_for).toMatchObject([{ id: b }, {}]);
    // A park that needs only one of them closes a ring if all are in it.
    const ring = await stage.nack({ event_id: a, until: [b], any: true });
    expect(ring.body.error?.code).toBe('VALIDATION_FAILED');
    expect((await stage.nack({ event_id: a, until: [b, '+1h'], any: true })).status).toBe(200);
  });

  it.each([
    [['req_00000000000000000000000000'], 'until.0', 'No such request.'],
    [['evt_00000000000000000000000000'], 'until.0', 'No such event.'],
    [['+1h', '+1h'], 'until.1', 'Name each condition once.'],
    [['+1h', 'now'], 'until.1', "`now` can't be combined with other conditions."],
    [['+31d'], 'until.0', 'At most 30 days from now.'],
    [['tomorrow'], 'until.0', expect.stringMatching(/^Expected `req_…`/)],
    [['+1m', '+2m', '+3m', '+4m', '+5m', '+6m'], 'until', expect.stringMatching(/5/)],
    [[], 'until', expect.anything()],
  ])('until %j is refused, and the lease stays', async (until, path, message) => {
    const id = await stage.claimed();
    const { status, body } = await stage.nack({ event_id: id, until });
    expect(status).toBe(400);
    expect(body.error?.details?.fields).toMatchObject([{ path, message }]);
    expect((await stage.event(id)).status).toBe('claimed');
  });

  it('on the question of another event is refused', async () => {
    const other = await stage.claimed();
    const { body: asked } = await stage.people.ask({ event_id: other });
    const id = await stage.claimed();
    const { body } = await stage.nack({ event_id: id, until: [asked.request_id] });
    expect(body.error?.details?.fields).toMatchObject([{ message: expect.stringMatching(other) }]);
    const itself = await stage.nack({ event_id: id, until: [id] });
    expect(itself.body.error?.code).toBe('VALIDATION_FAILED');
  });

  it('without a reason or a condition is refused', async () => {
    const id = await stage.claimed();
    const { body } = await stage.nack({ event_id: id });
    expect(body.error?.details?.fields).toMatchObject([{ path: 'reason' }]);
  });

  it('of an ask needs an event and its lease', async () => {
    const { body } = await stage.people.ask({ park: true });
    expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED' });
    const id = await stage.arrived();
    expect((await stage.people.ask({ event_id: id, park: true })).body.error?.code).toBe(
      'EVENT_NOT_CLAIMABLE',
    );
  });
});
