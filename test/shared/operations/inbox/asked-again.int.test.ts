import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callTool } from '../../../helpers/tool-call.ts';
import { ParkStage } from './park-stage.ts';

const DAY_MS = 86_400_000;

let stage: ParkStage;
beforeEach(async () => {
  stage = await ParkStage.start();
});
afterEach(() => stage.stop());

const BIND = { sha: 'a1' };

/** Asks again, as an agent whose first answer was lost. */
async function again(event_id: string, more: Record<string, unknown> = {}) {
  return (await stage.people.ask({ event_id, bind: BIND, ...more })).body;
}

/** An event that an agent asked about and parked. */
async function parked(): Promise<{ id: string; request_id: string }> {
  const id = await stage.claimed();
  const { request_id } = await stage.askAndPark(id, { bind: BIND, state: { step: 2 } });
  return { id, request_id };
}

describe('asking again about an event whose first answer was lost', () => {
  it('answers as at first while the event is parked on the question', async () => {
    const id = await stage.claimed();
    const first = await stage.askAndPark(id, { bind: BIND, state: { step: 2 } });
    const second = await stage.askAndPark(id, { bind: BIND, state: { step: 3 } });
    expect(second).toEqual(first);
    expect(await stage.event(id)).toMatchObject({ status: 'waiting' });
    await stage.people.decide(first.request_id, { verb: 'approve' });
    expect((await stage.claim(id)).resumed).toMatchObject({ parks: 1, state: { step: 2 } });
  });

  it('answers a tool call as at first, too', async () => {
    const id = await stage.claimed();
    const ask = { action: 'deploy', summary: 'Deploy v2', event_id: id, bind: BIND, park: true };
    const first = await callTool(stage.test, 'ask_approval', ask);
    expect(first.value).toMatchObject({ status: 'pending', parked: true });
    expect(await callTool(stage.test, 'ask_approval', ask)).toEqual(first);
    const question = { question: 'Which region?', event_id: await stage.claimed(), park: true };
    const asked = await callTool(stage.test, 'ask_human', question);
    expect(asked.value).toMatchObject({ status: 'pending', parked: true });
    expect(await callTool(stage.test, 'ask_human', question)).toEqual(asked);
  });

  it('finds the answer while nobody has claimed the event yet', async () => {
    const { id, request_id } = await parked();
    await stage.people.decide(request_id, { verb: 'approve' });
    expect(await again(id, { park: true })).toMatchObject({
      request_id,
      status: 'approved',
      hint: "You don't hold the event: claim it before you work on it.",
    });
    expect(await again(id)).toMatchObject({ request_id, status: 'approved' });
  });

  it('waits for the answer without park', async () => {
    const { id, request_id } = await parked();
    const waits = again(id, { wait_seconds: 30 });
    await stage.people.decide(request_id, { verb: 'deny' });
    expect(await waits).toMatchObject({ request_id, status: 'denied' });
  });

  it('finds it while another worker has the event', async () => {
    const { id, request_id } = await parked();
    await stage.post('/v1/inbox/requeue', { event_id: id });
    const worker = await stage.test.key('inbox:read', 'inbox:write');
    await stage.post('/v1/inbox/claim', { event_id: id }, worker);
    const found = await again(id, { park: true });
    expect(found).toMatchObject({ request_id, status: 'pending' });
    expect(found).not.toHaveProperty('parked');
    expect(await again(id, { lease_id: 'lse_old' })).toMatchObject({ request_id });
    expect((await stage.event(id)).status).toBe('claimed');
  });

  it('finds it while the event waits for something else', async () => {
    const id = await stage.claimed();
    const { request_id } = await again(id);
    await stage.nack({ event_id: id, until: ['+2h'] });
    const found = await again(id, { park: true });
    expect(found).toMatchObject({ request_id, status: 'pending' });
    expect(found).not.toHaveProperty('parked');
  });

  it('finds it after the event failed, and when its lease ran out', async () => {
    const id = await stage.claimed();
    const { request_id } = await again(id);
    await stage.nack({ event_id: id, reason: 'busy' });
    expect(await again(id)).toMatchObject({ request_id, status: 'pending' });
    stage.clock.advance(30_000);
    await stage.claim(id);
    stage.clock.advance(300_000);
    expect(await again(id, { park: true })).toMatchObject({ request_id, status: 'pending' });
  });

  it.each([
    ['done', 'ack', {}],
    ['dead', 'nack', { reason: 'no', retry: false }],
  ])('finds it after the event is %s', async (status, verb, more) => {
    const decided = await parked();
    await stage.people.decide(decided.request_id, { verb: 'approve' });
    await stage.claim(decided.id);
    await stage.post(`/v1/inbox/${verb}`, { event_id: decided.id, ...more });
    expect(await again(decided.id)).toMatchObject({
      request_id: decided.request_id,
      status: 'approved',
    });
    const open = await stage.claimed();
    const { request_id } = await again(open);
    await stage.post(`/v1/inbox/${verb}`, { event_id: open, ...more });
    expect(await again(open, { park: true })).toMatchObject({
      request_id,
      status: 'expired',
      hint: `withdrawn: its event is ${status}.`,
    });
  });

  it("finds it after the event's payload was deleted", async () => {
    const { id, request_id } = await parked();
    await stage.people.decide(request_id, { verb: 'approve' });
    await stage.claim(id);
    await stage.post('/v1/inbox/ack', { event_id: id });
    stage.clock.advance(31 * DAY_MS);
    await stage.people.maintenance();
    expect(await stage.event(id)).toMatchObject({ payload_purged: true });
    expect(await again(id)).toMatchObject({ request_id, status: 'approved' });
  });

  it.each([
    [{ bind: { sha: 'b2' } }],
    [{ action: 'deploy.other' }],
    [{ question: 'Which region?', bind: undefined }],
  ])('is refused for something else, with where the event is: %j', async (more) => {
    const { id, request_id } = await parked();
    expect((await again(id, { ...more, park: true })).error).toMatchObject({
      code: 'EVENT_NOT_CLAIMABLE',
      hint: expect.stringMatching(/^The event is waiting\. It comes back once a person decides/),
    });
    expect((await stage.people.status(request_id)).status).toBe('pending');
  });

  it('needs the scope of a worker', async () => {
    const { id } = await parked();
    const key = await stage.test.key('approvals');
    const { body } = await stage.people.ask({ event_id: id, bind: BIND }, { key });
    expect(body.error?.code).toBe('SCOPE_MISSING');
  });
});
