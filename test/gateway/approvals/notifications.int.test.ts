import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Carrier } from '../../../gateway/approvals/approvals.ts';
import { NotificationQueue } from '../../../gateway/approvals/notification-queue.ts';
import { createVault, loadMasterKey } from '../../../gateway/lib/vault.ts';
import type { Vault } from '../../../shared/kernel/context.ts';
import { newId } from '../../../shared/lib/ids.ts';
import { channelAad } from '../../../shared/operations/channel/view.ts';
import type { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf } from '../../helpers/outbox.ts';
import { writerOf } from '../../helpers/writers.ts';
import { eachWithPeople, type TestPeople } from './people.ts';
import { later, SENT, TestCarrier } from '../channels/test-carrier.ts';

const SECOND = 1000;

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let vault: Vault;
let owner: string;
eachWithPeople((made) => {
  ({ test, clock, people, owner } = made);
  vault = createVault(loadMasterKey(join(test.folder, 'master.key')));
});

/** Takes the place of what sends the messages of the project, as the next start of the process would. */
function messages(email: Carrier, telegram?: Carrier): NotificationQueue {
  people.project.notifications.close();
  return new NotificationQueue(people.project, {
    clock,
    vault,
    carriers: { email, ...(telegram && { telegram }) },
    isCounted: () => false,
  });
}

const noticesOf = (requestId: string) =>
  people.project.store.read((store) => store.notices.ofRequest(requestId));

async function noticeOf(requestId: string, kind = 'ask') {
  return (await noticesOf(requestId)).findLast((one) => one.kind === kind);
}

async function reaches(requestId: string, status: string): Promise<void> {
  await expect.poll(async () => (await noticeOf(requestId))?.status, { interval: 2 }).toBe(status);
}

const dueOf = async (requestId: string) => (await noticeOf(requestId))?.due_at;

const queued = () => people.project.store.read((store) => store.notices.due(clock.now(), 99));

/** An active channel of Telegram. */
async function telegramChannel(): Promise<string> {
  const id = newId('chn', clock.now());
  const at = new Date(clock.now()).toISOString();
  const chat = JSON.stringify({ chatId: 41, userId: 42 });
  const times = { created_at: at, verified_at: at, activated_at: at, last_used_at: null };
  await writerOf(people.project).write(({ channels }) =>
    channels.insert({
      id,
      kind: 'telegram',
      label: 'ops',
      status: 'active',
      owner: 0,
      address: vault.seal(channelAad(test.projectId, id), chat),
      address_hash: vault.sign(id),
      masked: null,
      created_by: null,
      person_of: null,
      ...times,
    }),
  );
  return id;
}

describe('a message', () => {
  it('that was sent when the process died is sent again, under the same id and link', async () => {
    const dying = new TestCarrier(null);
    const before = messages(dying);
    const id = await people.asked();
    before.wake();
    await dying.until(1);
    before.close();
    expect(await noticeOf(id)).toMatchObject({ status: 'queued', attempts: 0 });

    const next = new TestCarrier();
    messages(next).wake();
    await next.until(1);
    await reaches(id, 'sent');
    const [first, again] = [dying.got[0], next.got[0]];
    expect(again?.id).toBe(first?.id);
    expect(again?.address).toBe('owner@localhost');
    expect(again?.message).toEqual(first?.message);
    expect(again?.message).toMatchObject({ kind: 'ask', opened: { request: { id } } });
    // What the dead one thought of it has no weight any more.
    dying.endAll();
    await people.status(id);
    expect((await people.status(id)).notified).toMatchObject([
      { channel_id: owner, kind: 'email', status: 'sent' },
    ]);
  });

  it('that cannot be sent now is tried again, after longer and longer pauses', async () => {
    const carrier = new TestCarrier(later());
    const sending = messages(carrier);
    const id = await people.asked({ expires_in: '7d' });
    sending.wake();
    for (const [attempt, pause] of [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600].entries()) {
      await carrier.until(attempt + 1);
      const dueAt = clock.now() + pause * SECOND;
      await expect
        .poll(() => noticeOf(id), { interval: 2 })
        .toMatchObject({ status: 'queued', attempts: attempt + 1, due_at: dueAt });
      clock.advance(pause * SECOND - 1);
      sending.wake();
      await people.status(id);
      clock.advance(1);
      sending.wake();
    }
    await carrier.until(11);
    carrier.answer = SENT;
    clock.advance(3600 * SECOND);
    sending.wake();
    await reaches(id, 'sent');
    expect(carrier.got).toHaveLength(12);
  });

  it('waits as long as the other side asked for, up to an hour', async () => {
    const carrier = new TestCarrier(later(100));
    const sending = messages(carrier);
    const id = await people.asked();
    sending.wake();
    await expect.poll(() => dueOf(id), { interval: 2 }).toBe(clock.now() + 100 * SECOND);
    clock.advance(100 * SECOND);
    carrier.answer = later(100_000);
    sending.wake();
    await expect.poll(() => dueOf(id), { interval: 2 }).toBe(clock.now() + 3600 * SECOND);
  });

  it('that nobody takes for a day has failed', async () => {
    const carrier = new TestCarrier(later());
    const sending = messages(carrier);
    const id = await people.asked({ expires_in: '7d' });
    for (let attempt = 1; attempt <= 32; attempt += 1) {
      sending.wake();
      await expect
        .poll(async () => (await noticeOf(id))?.attempts, { interval: 2 })
        .toBe(attempt < 32 ? attempt : 31);
      await carrier.until(attempt);
      clock.advance(3600 * SECOND);
    }
    await reaches(id, 'failed');
    expect((await people.status(id)).notified).toMatchObject([{ status: 'failed' }]);
    expect((await people.status(id)).status).toBe('pending');
  });

  it('that is refused has failed, and says so in notified; others are asked', async () => {
    const ana = await people.activeChannel('ana@example.com');
    const carrier = new TestCarrier(null);
    const sending = messages(carrier);
    const id = await people.asked();
    sending.wake();
    await carrier.until(2);
    for (const { address, end } of carrier.got) {
      end(address.startsWith('ana') ? { outcome: 'refused', reason: 'no such user' } : SENT);
    }
    await expect
      .poll(async () => (await people.status(id)).notified.map((one) => one.status), {
        interval: 2,
      })
      .toEqual(['sent', 'failed']);
    const { notified } = await people.status(id);
    expect(notified.map(({ channel_id }) => channel_id)).toEqual([owner, ana]);
  });

  it('about what is decided, or over, or of a channel that is gone is not sent', async () => {
    const ana = await people.activeChannel('ana@example.com');
    const carrier = new TestCarrier();
    const sending = messages(carrier);
    const decided = await people.asked({ approvers: [owner] });
    const expired = await people.asked({ approvers: [owner], expires_in: '1m' });
    const removed = await people.asked({ approvers: [ana] });
    const { token } = (await noticeOf(decided)) ?? {};
    const place = `notice|${test.projectId}|${(await noticeOf(decided))?.id}|token`;
    const link = Buffer.from(vault.open(place, token ?? new Uint8Array())).toString('utf8');
    await test.gateway.approvals.decide(link, { verb: 'deny' });
    clock.advance(60 * SECOND);
    await people.removeChannel(ana);
    sending.wake();
    await carrier.until(1);
    // Only the owner, to whom the question moved.
    expect(carrier.got[0]?.message).toMatchObject({
      kind: 'ask',
      opened: { request: { id: removed }, channel: { id: owner } },
    });
    await reaches(expired, 'void');
    expect(await noticeOf(decided)).toMatchObject({ status: 'void' });
    expect((await noticesOf(removed)).map(({ status }) => status)).toContain('void');
    expect(carrier.got).toHaveLength(1);
  });

  it('keeps no address and no link in what is written down about it', async () => {
    const carrier = new TestCarrier(null);
    const sending = messages(carrier);
    const id = await people.asked();
    sending.wake();
    await carrier.until(1);
    const link = `http://x/a/${carrier.tokenOf(0)}`;
    const reason = `554 5.7.1 <owner@localhost>: (Owner@LOCALHOST) ${link} is listed`;
    carrier.got[0]?.end({ outcome: 'refused', reason });
    await reaches(id, 'failed');
    expect((await noticeOf(id))?.reason).toBe('554 5.7.1 <…>: (…) http://x/a/… is listed');
  });

  it('for which there is no way is sent when there is one', async () => {
    const chat = await telegramChannel();
    const [email, telegram] = [new TestCarrier(), new TestCarrier()];
    const without = messages(email);
    const id = await people.asked({ approvers: [chat] });
    without.wake();
    await expect.poll(() => noticeOf(id), { interval: 2 }).toMatchObject({ attempts: 1 });
    expect(await noticeOf(id)).toMatchObject({ status: 'queued', due_at: clock.now() + 15_000 });
    clock.advance(15 * SECOND);
    messages(email, telegram).wake();
    await telegram.until(1);
    expect(telegram.got[0]?.address).toBe('41');
    expect(email.got).toEqual([]);
  });
});

describe('messages', () => {
  it('are sent once each, 16 at a time', async () => {
    const carrier = new TestCarrier(null);
    const sending = messages(carrier);
    for (let n = 0; n < 30; n += 1) await people.asked({ summary: `No ${n}` });
    let ended = 0;
    sending.wake();
    while (ended < 30) {
      await carrier.until(Math.min(30, ended + 16));
      // Woken again and again, as every new request does.
      for (let round = 0; round < 3; round += 1) sending.wake();
      await people.owner();
      expect(carrier.got.length).toBeLessThanOrEqual(ended + 16);
      carrier.got[ended]?.end(SENT);
      ended += 1;
    }
    await expect.poll(queued, { interval: 2 }).toEqual([]);
    expect(carrier.got).toHaveLength(30);
    expect(new Set(carrier.got.map(({ id }) => id)).size).toBe(30);
  });

  it('are held up by no other: a slow one, or one that cannot be made', async () => {
    const carrier = new TestCarrier(null);
    const sending = messages(carrier);
    const slow = await people.asked();
    const broken = newId('ntc', clock.now());
    await writerOf(people.project).write(({ notices }) =>
      notices.insert({
        id: broken,
        kind: 'ask',
        channel_id: owner,
        request_id: slow,
        // As after a restore with another master key.
        token: vault.seal('another place', 'token'),
        token_hash: 'hash',
        status: 'queued',
        attempts: 0,
        due_at: clock.now(),
        created_at: new Date(clock.now()).toISOString(),
      }),
    );
    const fine = await people.asked();
    sending.wake();
    await carrier.until(2);
    carrier.got[1]?.end(SENT);
    await reaches(fine, 'sent');
    const unmade = { id: broken, status: 'queued', attempts: 1, due_at: clock.now() + 15 * SECOND };
    await expect
      .poll(() => noticesOf(slow), { interval: 2 })
      .toMatchObject([{ status: 'queued', attempts: 0 }, unmade]);
    carrier.endAll();
  });
});

describe('buttons', () => {
  it('come off once it is decided, and mails stay as they are', async () => {
    const chat = await telegramChannel();
    const [email, telegram] = [new TestCarrier(), new TestCarrier()];
    const sending = messages(email, telegram);
    const id = await people.asked();
    sending.wake();
    await telegram.until(1);
    await email.until(1);
    await expect
      .poll(async () => (await noticesOf(id)).map((one) => one.status), { interval: 2 })
      .toEqual(['sent', 'sent']);
    const token = telegram.tokenOf(0);
    await test.gateway.approvals.decide(token, { verb: 'approve' });
    sending.wake();
    await telegram.until(2);
    expect(telegram.got[1]?.message).toMatchObject({
      kind: 'over',
      messageId: 'm-1',
      opened: { request: { status: 'approved', decidedBy: 'ops' } },
    });
    expect(await noticeOf(id, 'over')).toMatchObject({ channel_id: chat });
    expect(email.got).toHaveLength(1);
    // What is cleared up behind is nobody's news.
    expect((await people.status(id)).notified).toHaveLength(2);
  });

  it('come off what was on its way when it was decided', async () => {
    const chat = await telegramChannel();
    const telegram = new TestCarrier(null);
    const sending = messages(new TestCarrier(), telegram);
    const id = await people.asked({ approvers: [chat] });
    sending.wake();
    await telegram.until(1);
    const token = telegram.tokenOf(0);
    await test.gateway.approvals.decide(token, { verb: 'deny' });
    expect((await people.status(id)).notified).toMatchObject([{ status: 'void' }]);
    telegram.got[0]?.end(SENT);
    await telegram.until(2);
    expect(telegram.got[1]?.message).toMatchObject({ kind: 'over', messageId: 'm-1' });
    telegram.got[1]?.end(SENT);
    expect((await people.status(id)).notified).toMatchObject([{ status: 'sent' }]);
  });
});

describe('a link that confirms an address', () => {
  it('that was not sent before the next one was asked for is not sent', async () => {
    const carrier = new TestCarrier();
    const sending = messages(carrier);
    await people.addChannel('ana@example.com');
    clock.advance(60 * SECOND);
    await people.addChannel('ana@example.com');
    sending.wake();
    await carrier.until(1);
    expect((await test.gateway.approvals.verifyEmail(carrier.tokenOf(0)))?.status).toBe('verified');
    sending.wake();
    await carrier.until(2);
    expect(carrier.got[1]?.message).toMatchObject({
      kind: 'ask',
      opened: { channel: { id: owner } },
    });
  });
});

describe('an outbox that cannot be written', () => {
  it('gets its mails when it can, by maintenance alone', async () => {
    const folder = join(test.folder, 'outbox');
    rmSync(folder, { recursive: true, force: true });
    writeFileSync(folder, 'in the way');
    const id = await people.asked();
    await expect.poll(() => noticeOf(id), { interval: 2 }).toMatchObject({ attempts: 1 });
    expect((await noticeOf(id))?.reason).toMatch(/outbox folder could not be written/);
    rmSync(folder);
    await people.maintenance();
    expect(mailsOf(test.folder)).toEqual([]);
    clock.advance(15 * SECOND);
    await people.maintenance();
    await people.link(id);
    expect(mailsOf(test.folder)).toHaveLength(1);
  });
});
