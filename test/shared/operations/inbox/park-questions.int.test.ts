import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ParkStage } from './park-stage.ts';

let stage: ParkStage;
beforeEach(async () => {
  stage = await ParkStage.start();
});
afterEach(() => stage.stop());

describe('an event parked on a question', () => {
  it('waits, wakes with the answer, and keeps its place', async () => {
    const id = await stage.claimed();
    const later = await stage.arrived();
    const asked = await stage.askAndPark(id, { state: { step: 2 }, bind: { sha: 'a1' } });
    expect(asked).toMatchObject({ status: 'pending', parked: true });
    const expires_at = asked.expires_at;
    expect(await stage.event(id)).toMatchObject({
      status: 'waiting',
      attempts: 0,
      waiting_for: [{ id: asked.request_id, status: 'pending', expires_at }],
      wakes_at: expires_at,
    });
    expect((await stage.post('/v1/inbox/claim', { event_id: id })).body.error?.code).toBe(
      'EVENT_NOT_CLAIMABLE',
    );
    await stage.people.decide(asked.request_id, { verb: 'approve', comment: 'go' });
    const next = await stage.test.call<{ event: Event }>('GET', '/v1/inbox/wait?timeout_seconds=1');
    expect(next.body.event).toMatchObject({ id, status: 'pending' });
    const answer = { request_id: asked.request_id, status: 'approved', comment: 'go' };
    expect((await stage.claim(id)).resumed).toMatchObject({
      parks: 1,
      because: asked.request_id,
      answers: [answer],
      waited_for: [{ id: asked.request_id, status: 'approved' }],
      state: { step: 2 },
    });
    expect((await stage.claim(later)).resumed).toBeUndefined();
    expect(await stage.operations(id)).toEqual([
      'event.received',
      'inbox_claim',
      'event.parked',
      'inbox_claim',
      'event.resumed',
      'inbox_claim',
    ]);
  });

  it('leaves nobody a request.resolved to work', async () => {
    const id = await stage.claimed();
    const { request_id } = await stage.askAndPark(id);
    await stage.people.decide(request_id, { verb: 'deny' });
    expect(await stage.people.events()).toEqual([]);
    expect(await stage.people.events('done')).toHaveLength(1);
  });

  it('wakes with expired when nobody decides', async () => {
    const id = await stage.claimed();
    const { request_id } = await stage.askAndPark(id, { expires_in: '1h' });
    stage.clock.advance(3_600_000);
    await stage.people.maintenance();
    expect((await stage.claim(id)).resumed).toMatchObject({
      because: request_id,
      answers: [{ status: 'expired' }],
    });
  });

  it('is asked about once, in whatever words, and finds the answer', async () => {
    const id = await stage.claimed();
    const first = await stage.askAndPark(id, { bind: { n: 1 } });
    await stage.people.decide(first.request_id, { verb: 'approve' });
    await stage.claim(id);
    const again = await stage.askAndPark(id, { bind: { n: 1 }, summary: 'In other words' });
    expect(again).toMatchObject({ request_id: first.request_id, status: 'approved' });
    expect(again.parked).toBeUndefined();
    expect((await stage.event(id)).status).toBe('claimed');
  });

  it('is asked anew about other values, and the open question is withdrawn as replaced', async () => {
    const id = await stage.claimed();
    const { body: first } = await stage.people.ask({ event_id: id, bind: { sha: 'a' } });
    const second = await stage.askAndPark(id, { bind: { sha: 'b' } });
    expect(second.request_id).not.toBe(first.request_id);
    expect(await stage.people.status(first.request_id)).toMatchObject({
      status: 'expired',
      hint: expect.stringMatching(/^withdrawn: replaced/),
    });
    const third = await stage.people.ask({ event_id: id, bind: { sha: 'b ' } });
    expect(third.body.request_id).not.toBe(second.request_id);
  });

  it('without values is another question for another amount', async () => {
    const id = await stage.claimed();
    const { body: ten } = await stage.people.ask({ event_id: id, amount: 10 });
    const { body: same } = await stage.people.ask({ event_id: id, amount: 10, summary: 'Again' });
    const { body: more } = await stage.people.ask({ event_id: id, amount: 999 });
    expect(same.request_id).toBe(ten.request_id);
    expect(more.request_id).not.toBe(ten.request_id);
  });

  it('is not parked when the policy decides', async () => {
    await stage.people.setPolicy({ effect: 'auto_approve' });
    const id = await stage.claimed();
    const answer = await stage.askAndPark(id);
    expect(answer).toMatchObject({ status: 'approved' });
    expect(answer.parked).toBeUndefined();
    expect((await stage.event(id)).status).toBe('claimed');
    const done = await stage.people.events('done');
    expect(done).toMatchObject([{ request_id: answer.request_id }]);
  });

  it('asks anew where more was to be said', async () => {
    const id = await stage.claimed();
    const first = await stage.askAndPark(id);
    await stage.people.decide(first.request_id, { verb: 'needs_context', comment: 'Which one?' });
    expect((await stage.claim(id)).resumed).toMatchObject({ answers: [{ comment: 'Which one?' }] });
    const second = await stage.askAndPark(id, { details: 'This one.' });
    expect(second.request_id).not.toBe(first.request_id);
    expect(second.parked).toBe(true);
  });

  it('is for the agent that holds it to ask', async () => {
    const id = await stage.arrived();
    const code = async (more: Record<string, unknown>, key?: string) => {
      const options = key === undefined ? {} : { key };
      return (await stage.people.ask({ event_id: id, ...more }, options)).body.error?.code;
    };
    expect(await code({})).toBe('EVENT_NOT_CLAIMABLE');
    await stage.claim(id);
    const worker = await stage.test.key('inbox:write', 'approvals');
    expect(await code({}, worker)).toBe('LEASE_NOT_HELD');
    expect(await code({}, await stage.test.key('approvals'))).toBe('SCOPE_MISSING');
    expect(await code({ lease_id: 'lse_x' })).toBe('LEASE_NOT_HELD');
    expect(await code({})).toBeUndefined();
  });

  it('that was parked 25 times is dead, and its question withdrawn', async () => {
    const id = await stage.claimed();
    for (let parks = 1; parks <= 25; parks += 1) {
      await stage.nack({ event_id: id, until: ['+1m'] });
      stage.clock.advance(60_000);
      await stage.claim(id);
    }
    const asked = await stage.askAndPark(id);
    const withdrawn = { status: 'expired', reason: 'withdrawn' };
    expect(asked).toMatchObject({ ...withdrawn, hint: 'withdrawn: its event is dead.' });
    expect(asked.parked).toBeUndefined();
    expect((await stage.event(id)).status).toBe('dead');
  });

  it('is withdrawn when its event is finished', async () => {
    const id = await stage.claimed();
    const { body: open } = await stage.people.ask({ event_id: id });
    await stage.post('/v1/inbox/ack', { event_id: id });
    expect(await stage.people.status(open.request_id)).toMatchObject({
      status: 'expired',
      reason: 'withdrawn',
      hint: 'withdrawn: its event is done.',
    });
    const late = await stage.people.ask({ event_id: id, bind: { n: 1 } });
    expect(late.body.error?.code).toBe('EVENT_NOT_CLAIMABLE');
  });

  it('goes on at once when it is put back by hand, and its question stays', async () => {
    const id = await stage.claimed();
    const { request_id } = await stage.askAndPark(id);
    expect((await stage.post('/v1/inbox/requeue', { event_id: id })).status).toBe(200);
    expect((await stage.claim(id)).resumed).toMatchObject({
      because: 'requeued',
      answers: [{ request_id, status: 'pending' }],
    });
    expect((await stage.people.status(request_id)).status).toBe('pending');
  });
});

describe('a withdrawal', () => {
  it('ends the request, wakes its event and tells why', async () => {
    const id = await stage.claimed();
    const { request_id } = await stage.askAndPark(id);
    const { body } = await stage.post(`/v1/requests/${request_id}/withdraw`, {
      reason: 'too late',
    });
    const ended = { status: 'expired', withdrawn: true, hint: 'withdrawn: too late' };
    expect(body).toMatchObject(ended);
    expect((await stage.claim(id)).resumed).toMatchObject({ answers: [{ status: 'expired' }] });
    expect(await stage.operations(request_id)).toContain('request.withdrawn');
    const again = await stage.post(`/v1/requests/${request_id}/withdraw`, {});
    expect(again.body).toMatchObject({ ...ended, withdrawn: false });
  });

  it('that comes after the decision changes nothing and says so', async () => {
    const id = await stage.people.asked();
    await stage.people.decide(id, { verb: 'approve' });
    const { body } = await stage.post(`/v1/requests/${id}/withdraw`, {});
    expect(body).toMatchObject({ status: 'approved', withdrawn: false });
  });

  it('is for the key that asked, or an admin', async () => {
    const id = await stage.people.asked();
    const key = await stage.test.key('approvals');
    const { body } = await stage.post(`/v1/requests/${id}/withdraw`, {}, key);
    expect(body.error?.code).toBe('SCOPE_MISSING');
    expect((await stage.people.status(id)).status).toBe('pending');
  });
});
