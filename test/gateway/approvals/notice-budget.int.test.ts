import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NotificationQueue } from '../../../gateway/approvals/notification-queue.ts';
import type { Notification } from '../../../gateway/approvals/approvals.ts';
import { createVault, loadMasterKey } from '../../../gateway/lib/vault.ts';
import type { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { TestCarrier, later } from '../channels/test-carrier.ts';
import { eachWithPeople, type TestPeople, refused } from './people.ts';

const MINUTE = 60_000;

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let owner: string;
let carrier: TestCarrier;
let queue: NotificationQueue;
eachWithPeople((made) => {
  ({ test, clock, people, owner } = made);
  people.project.notifications.close();
  carrier = new TestCarrier();
  queue = queueOf(carrier);
});

/** Takes the place of what sends the messages, as a gateway with a mail server and the next start of one would. */
function queueOf(email: TestCarrier, isCounted = true): NotificationQueue {
  const vault = createVault(loadMasterKey(join(test.folder, 'master.key')));
  return new NotificationQueue(people.project, {
    clock,
    vault,
    carriers: { email },
    isCounted: () => isCounted,
  });
}

async function settled(sending = queue): Promise<void> {
  sending.wake();
  await expect.poll(() => sending.isBusy, { interval: 2 }).toBe(false);
}

async function ask(count: number, body: Record<string, unknown> = {}, key?: string) {
  const ids: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    const answer = await people.ask(
      { summary: `No ${n} ${key ?? ''}`, expires_in: '7d', ...body },
      key === undefined ? {} : { key },
    );
    expect(answer.status).toBe(200);
    ids.push(answer.body.request_id);
  }
  await settled();
  return ids;
}

const told = () => carrier.got.map(({ message }) => message.kind);
const digests = () =>
  carrier.got
    .map(({ message }) => message)
    .filter((one): one is Extract<Notification, { kind: 'digest' }> => one.kind === 'digest');
const statusesOf = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await people.status(id)).notified[0]?.status));

async function otherKey(name: string): Promise<string> {
  const scopes = ['approvals'];
  const { body } = await test.call<{ api_key: string }>('POST', '/v1/keys', {
    body: { name, scopes },
  });
  return body.api_key;
}

describe('a key that asks a person too much', () => {
  it('sends ten messages at once, and one digest for all the others', async () => {
    const ids = await ask(25);
    expect(told()).toEqual(Array.from({ length: 10 }, () => 'ask'));
    expect(await statusesOf(ids)).toEqual([
      ...Array.from({ length: 10 }, () => 'sent'),
      ...Array.from({ length: 15 }, () => 'held'),
    ]);
    clock.advance(3 * MINUTE - 1);
    await settled();
    expect(digests()).toHaveLength(0);
    clock.advance(1);
    await settled();
    const [digest] = digests();
    expect(digest?.items.map(({ opened }) => opened.request.id)).toEqual(ids.slice(10));
    expect(digest).toMatchObject({ keyName: 'admin', channel: { id: owner } });
    expect(await statusesOf(ids.slice(10))).toEqual(Array.from({ length: 15 }, () => 'digest'));
    // Its links decide like any other.
    const token = digest?.items[0]?.token ?? '';
    const decided = await test.gateway.approvals.decide(token, { verb: 'approve' });
    expect(decided?.opened.request).toMatchObject({ id: ids[10], status: 'approved' });
  });

  it('sends a digest every 15 minutes at most, however long it goes on', async () => {
    const sent: number[] = [];
    for (let minute = 0; minute < 60; minute += 1) {
      for (let n = 0; n < 4; n += 1) {
        const { body } = await people.ask({ summary: `At ${minute}, ${n}`, expires_in: '1m' });
        expect(body.status).toBe('pending');
      }
      await settled();
      clock.advance(MINUTE);
      await people.maintenance();
      await settled();
      sent.push(carrier.got.length);
    }
    // 240 requests in an hour.
    expect(sent.at(-1)).toBeLessThanOrEqual(30);
    expect(digests().length).toBeLessThanOrEqual(4);
  });

  it('is told once, with what is still open then', async () => {
    const ids = await ask(13);
    const token = await test.gateway.projects
      .find(test.projectId)
      .then((project) => project?.store.read((store) => store.notices.ofRequest(ids[11] ?? '')));
    expect(token).toHaveLength(1);
    await test.call('POST', `/v1/requests/${ids[11]}/withdraw`, { body: { reason: 'No need' } });
    clock.advance(3 * MINUTE);
    await settled();
    expect(digests()[0]?.items.map(({ opened }) => opened.request.id)).toEqual([ids[10], ids[12]]);
    expect(await statusesOf([ids[11] ?? ''])).toEqual(['void']);
  });

  it('is followed by nothing if all of it was decided meanwhile', async () => {
    const ids = await ask(12, { expires_in: '2m' });
    clock.advance(3 * MINUTE);
    await people.maintenance();
    await settled();
    expect(told()).toEqual(Array.from({ length: 10 }, () => 'ask'));
    expect(await statusesOf(ids.slice(10))).toEqual(['void', 'void']);
  });

  it('leaves the messages of others alone', async () => {
    await ask(15);
    const other = await otherKey('calm');
    await ask(2, {}, other);
    expect(carrier.got.slice(10).map(({ message }) => message.kind)).toEqual(['ask', 'ask']);
  });

  it('gets requests of high risk and about rules through first, but not without end', async () => {
    await ask(12);
    const risky = { risk: 'high', details: 'It matters.' };
    await ask(8, risky);
    await people.propose([{ id: 'all', effect: 'deny' }]);
    await settled();
    expect(carrier.got).toHaveLength(19);
    await ask(3, { ...risky, action: 'more' });
    expect(carrier.got).toHaveLength(20);
    clock.advance(40 * MINUTE);
    await settled();
    expect(digests()[0]?.items).toHaveLength(4);
  });

  it('loses nothing when the gateway is killed before or while the digest goes out', async () => {
    const ids = await ask(14);
    queue.close();
    clock.advance(3 * MINUTE);
    const dying = new TestCarrier(null);
    const second = queueOf(dying);
    second.wake();
    await dying.until(1);
    second.close();
    expect(await statusesOf(ids.slice(10))).toEqual(['held', 'held', 'held', 'held']);
    const next = new TestCarrier();
    await settled(queueOf(next));
    expect(next.got.map(({ message }) => message.kind)).toEqual(['digest']);
    expect(next.got[0]?.id).toBe(dying.got[0]?.id);
    expect(await statusesOf(ids.slice(10))).toEqual(['digest', 'digest', 'digest', 'digest']);
    dying.endAll();
  });

  it('counts a message once, however often it must be tried', async () => {
    carrier.answer = later();
    await ask(1);
    for (let n = 0; n < 12; n += 1) {
      clock.advance(16 * 60 * MINUTE * 4);
      await settled();
    }
    carrier.answer = { outcome: 'sent', messageId: 'm' };
    await ask(9, { expires_in: '7d' });
    expect(told().filter((kind) => kind === 'digest')).toEqual([]);
  });

  it('counts reminders, and lists a request once', async () => {
    const ids = await ask(11, { remind: '1m' });
    clock.advance(MINUTE);
    await settled();
    expect(carrier.got).toHaveLength(10);
    clock.advance(2 * MINUTE);
    await settled();
    expect(
      digests()[0]
        ?.items.map(({ opened }) => opened.request.id)
        .toSorted(),
    ).toEqual(ids.toSorted());
  });

  it('is not held back where mail stays in a folder', async () => {
    queue.close();
    queue = queueOf(carrier, false);
    await ask(25);
    expect(told()).toEqual(Array.from({ length: 25 }, () => 'ask'));
  });
});

async function mute(isOn = true): Promise<void> {
  const token = carrier.tokenOf(0);
  const opened = await test.gateway.approvals.mute(token, isOn);
  expect(opened?.mutedUntil).toBe(isOn ? clock.now() + 60 * MINUTE : null);
  await settled();
}

describe('a muted key', () => {
  it('is quiet for an hour, high risk too, and then told of in one message', async () => {
    await ask(1);
    await mute();
    const ids = await ask(2, { risk: 'high', details: 'It matters.' });
    const answer = await people.ask({ summary: 'One more', expires_in: '7d' });
    expect(answer.body.hint).toMatch(/^muted: .*2026-01-02T04:04:05.000Z/);
    clock.advance(60 * MINUTE - 1);
    await settled();
    expect(told()).toEqual(['ask']);
    expect(await statusesOf(ids)).toEqual(['held', 'held']);
    clock.advance(1);
    await settled();
    expect(told()).toEqual(['ask', 'digest']);
    expect(digests()[0]?.items).toHaveLength(3);
    expect((await people.ask({ summary: 'Later' })).body.hint).not.toMatch(/^muted/);
  });

  it('is told of at once when the person unmutes it', async () => {
    await ask(1);
    await mute();
    await ask(2);
    expect(told()).toEqual(['ask']);
    await mute(false);
    expect(told()).toEqual(['ask', 'digest']);
    expect(await people.ledger('key.muted')).toHaveLength(1);
    expect(await people.ledger('key.unmuted')).toHaveLength(1);
  });

  it('is muted for that person alone, and can be muted where mail stays in a folder', async () => {
    queue.close();
    queue = queueOf(carrier, false);
    await ask(1);
    await mute();
    await ask(1, { summary: 'Muted' });
    const other = await otherKey('calm');
    await ask(1, {}, other);
    expect(told()).toEqual(['ask', 'ask']);
    clock.advance(60 * MINUTE);
    await settled();
    expect(told()).toEqual(['ask', 'ask', 'digest']);
  });
});

const full = (of: string, limit: number) =>
  refused(429, 'TOO_MANY_PENDING_REQUESTS', { limit, used: limit, of, retry_after: 60 });

describe('pending requests', () => {
  it('of one key leave room for others, and a refusal says when to ask again', async () => {
    await ask(30);
    const own = await people.ask();
    expect(own).toMatchObject(full('key', 30));
    expect(own.headers.get('retry-after')).toBe('60');
    await ask(20, {}, await otherKey('second'));
    const third = await otherKey('third');
    const all = await people.ask({}, { key: third });
    expect(all).toMatchObject(full('project', 50));
    expect(all.headers.get('retry-after')).toBe('60');
  });
});
