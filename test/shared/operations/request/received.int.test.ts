import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withRawDatabase } from '../../../helpers/database.ts';
import { TestGateway } from '../../../helpers/gateway.ts';
import { LOOPBACK, Receiver } from '../../../gateway/callbacks/callback-receiver.ts';
import { ParkStage } from '../inbox/park-stage.ts';

interface Received {
  readonly closed: boolean;
  readonly event_id: string | null;
  readonly error?: { code: string; details?: { fields?: { path: string; message: string }[] } };
}

let stage: ParkStage;
let receiver: Receiver;
beforeEach(async () => {
  stage = await ParkStage.start({ callbackAllow: LOOPBACK });
  receiver = await Receiver.start();
});
afterEach(async () => {
  await stage.stop();
  await receiver.stop();
});

async function received(request: string, key?: string) {
  const path = `/v1/requests/${request}/received`;
  return stage.test.call<Received>('POST', path, { body: {}, ...(key !== undefined && { key }) });
}

/** A request that a person decided, and the event that tells of it. */
async function decided(): Promise<{ request: string; event: string }> {
  const request = await stage.people.asked();
  await stage.people.decide(request, { verb: 'approve' });
  const { body } = await stage.test.call<{ items: { id: string }[] }>('GET', '/v1/inbox');
  return { request, event: String(body.items[0]?.id) };
}

const nothing = { closed: false, event_id: null };

describe('the event of an answer that arrived', () => {
  it('is no work for anybody any more, and its history says who confirmed', async () => {
    const { request, event } = await decided();
    expect((await received(request)).body).toMatchObject({ closed: true, event_id: event });
    expect(await stage.event(event)).toMatchObject({ status: 'done' });
    const next = await stage.test.call('GET', '/v1/inbox/wait?timeout_seconds=1');
    expect(next.body['event']).toBeNull();
    expect(await stage.operations(event)).toEqual(['request_received']);
    const { body } = await stage.test.call('GET', `/v1/ledger?subject=${event}`);
    const { key } = (await stage.test.call('GET', '/v1/whoami')).body as { key: { id: string } };
    expect(body['items']).toMatchObject([{ actor: key.id, outcome: 'ok' }]);
    expect((await stage.test.call('POST', '/v1/ledger/verify')).body).toMatchObject({ ok: true });
  });

  it('is closed once: again there is nothing to close, and nothing is recorded', async () => {
    const { request, event } = await decided();
    await received(request);
    expect((await received(request)).body).toMatchObject(nothing);
    expect(await stage.operations(event)).toEqual(['request_received']);
    expect(await stage.operations(request)).not.toContain('request_received');
  });

  it('stays with the worker that claimed it, and with the next one after its lease', async () => {
    const { request, event } = await decided();
    await stage.claim(event);
    expect((await received(request)).body).toMatchObject(nothing);
    expect(await stage.event(event)).toMatchObject({ status: 'claimed' });
    stage.clock.advance(300_000);
    expect((await received(request)).body).toMatchObject(nothing);
    expect(await stage.event(event)).toMatchObject({ status: 'pending', attempts: 1 });
  });

  it('stays with the route that took it', async () => {
    const body = { match_type: 'request.*', callback_url: receiver.url() };
    const added = await stage.test.call('POST', '/v1/routes', { body });
    expect(added.status).toBe(201);
    const request = await stage.people.asked();
    await stage.people.decide(request, { verb: 'deny' });
    expect((await received(request)).body).toMatchObject(nothing);
  });

  it('stays for a worker when another key says so, even an admin', async () => {
    const { body } = await stage.people.ask({}, { key: await stage.test.key('approvals') });
    const request = body.request_id;
    await stage.people.decide(request, { verb: 'approve' });
    const { status, body: refusal } = await received(request);
    expect(status).toBe(400);
    expect(refusal.error?.details?.fields).toEqual([
      { path: 'request_id', message: 'Another key asked this.' },
    ]);
    expect(await stage.people.events()).toHaveLength(1);
  });

  it('is there after a confirmation that came before the decision', async () => {
    const request = await stage.people.asked();
    const { status, body } = await received(request);
    expect(status).toBe(400);
    expect(body.error?.details?.fields?.[0]?.message).toBe("It isn't decided yet.");
    await stage.people.decide(request, { verb: 'approve' });
    expect(await stage.people.events()).toHaveLength(1);
  });

  it('was done from the start where the policy decided, or its question was parked', async () => {
    const id = await stage.claimed();
    const { request_id } = await stage.askAndPark(id);
    await stage.people.decide(request_id, { verb: 'approve' });
    expect((await received(request_id)).body).toMatchObject(nothing);
    expect(await stage.event(id)).toMatchObject({ status: 'pending' });
  });

  it('wakes what waits for it', async () => {
    const { request, event } = await decided();
    const work = await stage.claimed();
    expect((await stage.nack({ event_id: work, until: [event] })).status).toBe(200);
    expect(await stage.event(work)).toMatchObject({ status: 'waiting' });
    await received(request);
    expect(await stage.event(work)).toMatchObject({ status: 'pending' });
  });

  it('of an earlier release has no link to its request, and stays', async () => {
    const { request, event } = await decided();
    const { test } = stage;
    await test.stop({ keepFolder: true });
    withRawDatabase(join(test.folder, 'projects', test.projectId, 'project.db'), (raw) =>
      raw.exec('UPDATE event SET provider_id = NULL'),
    );
    const later = await TestGateway.start({ folder: test.folder, projectOf: test });
    const path = `/v1/requests/${request}/received`;
    expect((await later.call('POST', path, { body: {} })).body).toMatchObject(nothing);
    const { body } = await later.call('GET', `/v1/inbox/events/${event}`);
    expect(body).toMatchObject({ status: 'pending' });
    await later.stop();
  });
});
