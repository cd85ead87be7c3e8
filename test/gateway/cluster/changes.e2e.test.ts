import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Choice } from '../../../gateway/approvals/approvals.ts';
import { FakeClock, type TestGateway } from '../../helpers/gateway.ts';
import { LOOPBACK, Receiver } from '../callbacks/callback-receiver.ts';
import { TestPeople, refused } from '../approvals/people.ts';
import { Routes } from '../../shared/operations/route/routes.ts';
import { SIGNERS } from '../http/source-signers.ts';
import { Pair } from './pair.ts';

let pair: Pair;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  pair = await Pair.start({ clock, callbackAllow: LOOPBACK });
});
afterEach(() => pair.stop());

const CHOICES: readonly Choice[] = [{ verb: 'approve' }, { verb: 'deny' }];

describe('a request decided on both gateways at once', () => {
  it('has one decision, which both show', async () => {
    const people = await TestPeople.of(pair.a, clock);
    for (let round = 0; round < 4; round += 1) {
      const id = await people.asked();
      const link = await people.link(id);
      const decisions = await Promise.all(
        CHOICES.map((choice, n) => pair.nth(n + round).gateway.approvals.decide(link, choice)),
      );
      expect(new Set(decisions.map((one) => one?.outcome))).toEqual(new Set(['late', 'taken']));
      const [one, other] = decisions.map((decided) => decided?.opened.request.status);
      expect(one).toBe(other);
      expect((await people.ledger('request.decided')).length).toBe(round + 1);
    }
  });
});

function rotateSource(gateway: TestGateway, secret: string, seconds: number) {
  return gateway.call('POST', '/v1/sources/shop/rotate', {
    body: { secret, previous_valid_seconds: seconds },
  });
}

describe('a source that one gateway gives a new secret', () => {
  it('has it on the other with the next delivery, and the one before until its end', async () => {
    const [signer] = SIGNERS;
    if (!signer) throw new Error('There are four.');
    const { verification, secrets, headers } = signer;
    const [old, next] = secrets;
    const url = await pair.a.addSource({ name: 'shop', verification, secret: old });
    let sent = 0;
    const statuses = async (): Promise<number[]> => {
      const answers: number[] = [];
      for (const [gateway, secret] of [pair.a, pair.b].flatMap((one) =>
        [old, next].map((by) => [one, by] as const),
      )) {
        const body = JSON.stringify({ n: (sent += 1) });
        const signed = await headers(secret, body, clock.now());
        const place = url.replace(pair.a.url, gateway.url);
        answers.push((await gateway.deliver(place, body, signed)).status);
      }
      return answers;
    };
    expect(await statuses()).toEqual([200, 401, 200, 401]);
    await rotateSource(pair.a, next, 60);
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    clock.advance(60_000);
    expect(await statuses()).toEqual([401, 200, 401, 200]);
    await rotateSource(pair.b, old, 0);
    expect(await statuses()).toEqual([200, 401, 200, 401]);
  });
});

describe('a policy proposed on both gateways', () => {
  it('is replaced by the first that is approved, and the other is superseded', async () => {
    const [one, other] = await Promise.all(
      [pair.a, pair.b].map((gateway) => TestPeople.of(gateway, clock)),
    );
    if (!one || !other) throw new Error('There are two.');
    // Either gateway mails what is due, whoever asked: here the first one does.
    other.project.notifications.close();
    const proposals = await Promise.all([
      one.propose([{ effect: 'deny', action: 'drop' }]),
      other.propose([{ effect: 'allow', action: 'read' }]),
    ]);
    const [first = '', second = ''] = proposals.map(({ body }) => body.request_id);
    await one.maintenance();
    const links = [await one.link(first), await one.link(second)];
    // Each by the gateway that did not ask.
    await Promise.all(
      links.map((link, n) => pair.nth(n + 1).gateway.approvals.decide(link, { verb: 'approve' })),
    );
    const statuses = [await other.status(first), await one.status(second)].map((asked) => [
      asked.status,
      asked.hint === null,
    ]);
    expect(statuses).toHaveLength(2);
    expect(statuses).toContainEqual(['approved', true]);
    expect(statuses).toContainEqual(['denied', false]);
    for (const gateway of [pair.a, pair.b]) {
      const { body } = await gateway.call('GET', '/v1/policy');
      expect(body).toMatchObject({ version: 1 });
    }
  });
});

describe('what one gateway changes holds on the other in the next call', () => {
  it('a key that was revoked is refused', async () => {
    for (let round = 0; round < 5; round += 1) {
      const made = await pair.a.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
        body: { name: 'short', scopes: ['inbox:read'] },
      });
      const key = made.body.api_key;
      const inbox = () => pair.b.call('GET', '/v1/inbox', { key });
      expect((await inbox()).status).toBe(200);
      await pair.a.call('DELETE', `/v1/keys/${made.body.id}`);
      expect(await inbox()).toMatchObject(refused(401, 'KEY_REVOKED'));
    }
  });

  it('a source that was removed is not there, and one that was added is', async () => {
    const added = await pair.a.call<{ id: string; url: string }>('POST', '/v1/sources', {
      body: { type: 'webhook', name: 'open' },
    });
    const onB = pair.b.url + new URL(added.body.url).pathname;
    expect((await pair.b.deliver(onB, 'one')).status).toBe(200);
    await pair.a.call('DELETE', `/v1/sources/open`);
    expect((await pair.b.deliver(onB, 'two')).status).toBe(404);
  });

  it('a route takes what comes in, and its removal gives back', async () => {
    const receiver = await Receiver.start();
    try {
      const onB = pair.b.url + new URL(await pair.a.addSource({ name: 'open' })).pathname;
      expect((await pair.b.deliver(onB, 'before')).status).toBe(200);
      const routes = new Routes(pair.a);
      const { id } = await routes.add(receiver.url());
      const { body } = await pair.b.deliver(onB, 'routed');
      expect((await receiver.came(1)).map(({ event }) => event.id)).toEqual([body['event_id']]);
      await pair.a.call('DELETE', `/v1/routes/${id}`);
      const after = await pair.b.deliver(onB, 'after');
      const claim = { body: { event_id: after.body['event_id'] } };
      expect((await pair.b.call('POST', '/v1/inbox/claim', claim)).status).toBe(200);
      expect(receiver.got).toHaveLength(1);
    } finally {
      await receiver.stop();
    }
  });

  it('a secret that was rotated signs', async () => {
    const receiver = await Receiver.start();
    try {
      const rotate = () => pair.a.call('POST', '/v1/request-callback-secret', { body: {} });
      const people = await TestPeople.of(pair.b, clock);
      await rotate();
      for (let round = 1; round <= 3; round += 1) {
        const asked = await people.asked({ callback_url: receiver.url() });
        const link = await people.link(asked);
        const { body } = await rotate();
        await pair.b.gateway.approvals.decide(link, { verb: 'approve' });
        const got = (await receiver.came(round)).at(-1);
        if (!got) throw new Error('Nothing came.');
        const at = new Date(Number(got.headers['webhook-timestamp']) * 1000);
        const { 'webhook-id': id = '', 'webhook-signature': signatures = '' } = got.headers;
        const signature = new Webhook(String(body['secret'])).sign(id, at, got.text);
        expect(signatures.split(' ')).toContain(signature);
        clock.advance(1000);
      }
    } finally {
      await receiver.stop();
    }
  });
});
