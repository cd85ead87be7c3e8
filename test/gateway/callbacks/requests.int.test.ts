import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { LOOPBACK, Receiver } from './callback-receiver.ts';
import { TestPeople } from '../approvals/people.ts';

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let receiver: Receiver;
let secret: string;
beforeEach(async () => {
  // Signatures are checked against the clock of the machine.
  clock = new FakeClock(Date.now());
  test = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  people = await TestPeople.of(test, clock);
  receiver = await Receiver.start();
  const made = await test.call<{ secret: string }>('POST', '/v1/request-callback-secret', {
    body: {},
  });
  secret = made.body.secret;
});
afterEach(async () => {
  await test.stop();
  await receiver.stop();
});

describe('the callback of a request', () => {
  it('gets the signed event that also stands in the inbox, once', async () => {
    const id = await people.asked({ callback_url: receiver.url('/hook?a=1'), state_ref: 's' });
    await people.decide(id, { verb: 'approve', comment: 'go' });
    await receiver.came(1);
    const [{ path, headers, text, event }] = receiver.got as [(typeof receiver.got)[0]];
    expect(path).toBe('/hook?a=1');
    new Webhook(secret).verify(text, headers);
    expect(event).toMatchObject({
      type: 'request.resolved',
      source: 'service',
      channel: 'service',
      trust: 'service',
      verified: true,
      project: test.projectId,
      payload: { request_id: id, status: 'approved', comment: 'go', state_ref: 's' },
    });
    expect(headers['webhook-id']).toBe(event.id);
    const inbox = await test.call<{ items: { id: string }[] }>('GET', '/v1/inbox');
    expect(inbox.body.items).toMatchObject([{ id: event.id, status: 'pending' }]);
    const claim = { event_id: event.id };
    expect((await test.call('POST', '/v1/inbox/claim', { body: claim })).status).toBe(200);
    await people.maintenance();
    expect(receiver.got).toHaveLength(1);
  });

  it('is told of an answer, of the end of the time, and of what a rule decided', async () => {
    const callback_url = receiver.url();
    const question = await people.asked({ question: 'q?', callback_url });
    await people.decide(question, { verb: 'answer', text: 'yes' });
    await receiver.came(1);
    const expired = await people.asked({ expires_in: '1m', callback_url });
    clock.advance(60_000);
    await people.maintenance();
    await receiver.came(2);
    await people.setPolicy({ id: 'no', effect: 'deny' });
    const denied = await people.asked({ callback_url });
    await receiver.came(3);
    expect(receiver.got.map(({ event }) => event.payload)).toMatchObject([
      { request_id: question, status: 'answered', decision: 'yes' },
      { request_id: expired, status: 'expired' },
      { request_id: denied, status: 'denied', decided_by: 'policy:no' },
    ]);
  });
});

describe('inbox_wait', () => {
  it('is woken by a decision', async () => {
    const waiting = test.call('GET', '/v1/inbox/wait?type=request.*&timeout_seconds=30');
    await expect.poll(() => people.project.waits.size).toBe(1);
    const id = await people.asked();
    await people.decide(id, { verb: 'deny' });
    expect((await waiting).body).toMatchObject({
      event: { type: 'request.resolved', payload: { request_id: id, status: 'denied' } },
    });
  });
});
