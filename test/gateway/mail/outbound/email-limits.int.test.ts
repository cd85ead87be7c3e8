import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { FakeClock } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { TestPeople, refused } from '../../approvals/people.ts';
import { TestSending } from './sending.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let mail: TestSending;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock(Date.UTC(2026, 0, 30, 20));
  mail = await TestSending.start({ clock });
});
afterEach(() => mail.stop());

let nth = 0;
const addresses = (count: number) => Array.from({ length: count }, () => `a${nth++}@example.com`);
const sendTo = (count: number) => mail.send({ to: addresses(count) });

/** As if so many had been asked for on a day. */
const asked = (day: string, count: number) =>
  writerOf(mail.project).write((store) => store.emailAddresses.count(day, 'asked', count));

describe('what a project may send in a day', () => {
  it('is 50 messages, whoever asks at the same time', async () => {
    await mail.allowAll();
    const answers = await Promise.all(Array.from({ length: 40 }, () => sendTo(3)));
    const taken = answers.filter(({ status }) => status === 202);
    expect(taken).toHaveLength(16);
    expect(await mail.asked()).toBe(48);
    for (const answer of answers.filter(({ status }) => status !== 202)) {
      expect(answer).toMatchObject(
        refused(429, 'SEND_LIMIT_REACHED', {
          window: 'day',
          limit: 50,
          used: 48,
          retry_after: 4 * 3600,
        }),
      );
    }
    expect((await sendTo(2)).status).toBe(202);
    expect((await sendTo(1)).status).toBe(429);
    for (const { body } of taken) await mail.ended(body.batch_id);
    expect(mail.outbox().length).toBeGreaterThanOrEqual(48);
  });

  it('says in a header too when to come again', async () => {
    await asked('2026-01-30', 50);
    clock.advance(500);
    const response = await fetch(`${mail.gateway.url}/v1/emails`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${mail.gateway.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ to: ['a@example.com'], subject: 's', text: 't' }),
    });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe(String(4 * 3600));
  });

  it('is free again with the next day (UTC)', async () => {
    await mail.allowAll();
    await asked('2026-01-30', 50);
    clock.advance(4 * HOUR - 1);
    expect((await sendTo(1)).body.error?.details).toMatchObject({ window: 'day', retry_after: 1 });
    clock.advance(1);
    expect((await sendTo(50)).status).toBe(202);
  });

  it('is given back by what was refused, on the day on which it was taken', async () => {
    const people = await TestPeople.of(mail.gateway, clock);
    const { body } = await sendTo(50);
    expect((await sendTo(1)).status).toBe(429);
    clock.advance(5 * HOUR);
    expect((await sendTo(50)).status).toBe(202);
    await people.decide(body.request_id ?? '', { verb: 'deny' });
    // Nothing of that came free today.
    expect(await mail.asked()).toBe(50);
    expect((await sendTo(1)).status).toBe(429);
  });
});

describe('what a project may send in a month', () => {
  it('is 1,000 messages of the calendar month, the last day included', async () => {
    await mail.allowAll();
    for (let day = 1; day <= 20; day += 1) {
      await asked(`2026-01-${String(day).padStart(2, '0')}`, 49);
    }
    await asked('2025-12-31', 500);
    expect((await sendTo(21)).body.error?.details).toEqual({
      window: 'month',
      limit: 1000,
      used: 980,
      of: 'project',
      retry_after: 28 * 3600,
    });
    const answers = await Promise.all(Array.from({ length: 40 }, () => sendTo(1)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(20);
    clock.advance(DAY);
    expect((await sendTo(1)).body.error?.details).toMatchObject({ window: 'month' });
    clock.advance(4 * HOUR);
    expect((await sendTo(50)).status).toBe(202);
  });
});

describe('a project whose mail bounces', () => {
  const GONE = { rcpt: { reply: '550 5.1.1 No such user' } };
  let smtp: FakeSmtp;
  let hosted: TestSending;
  beforeEach(async () => {
    smtp = await FakeSmtp.start();
    hosted = await TestSending.start({ clock, smtp });
    await hosted.allowAll();
  });
  afterEach(async () => {
    await hosted.stop();
    await smtp.close();
  });

  it('too often is blocked, and not before', async () => {
    smtp.script = GONE;
    await hosted.ended(await hosted.sent({ to: addresses(9) }));
    smtp.script = {};
    await hosted.ended(await hosted.sent({ to: addresses(1) }));
    smtp.script = GONE;
    await hosted.ended(await hosted.sent({ to: addresses(1) }));
    expect(await hosted.send({ to: addresses(1) })).toMatchObject({
      status: 403,
      body: {
        error: {
          code: 'SEND_BLOCKED',
          details: {
            reason: '10 messages bounced within a week, in which 1 were sent',
            at: new Date(clock.now()).toISOString(),
          },
        },
      },
    });
    expect(await hosted.ledger('send.blocked')).toHaveLength(1);
    expect(await hosted.asked()).toBe(11);
    const { body } = await hosted.gateway.call<{ emails: { blocked: string } }>('GET', '/v1/usage');
    expect(body.emails.blocked).toContain('10 messages bounced');
  });

  it('seldom is not', async () => {
    await writerOf(hosted.project).write((store) =>
      store.emailAddresses.count('2026-01-25', 'sent', 200),
    );
    smtp.script = GONE;
    await hosted.ended(await hosted.sent({ to: addresses(12) }));
    expect((await hosted.send({ to: addresses(1) })).status).toBe(202);
    expect(await hosted.ledger('send.blocked')).toEqual([]);
  });

  it('long ago is not', async () => {
    await writerOf(hosted.project).write((store) =>
      store.emailAddresses.count('2026-01-23', 'bounced', 50),
    );
    smtp.script = GONE;
    await hosted.ended(await hosted.sent({ to: addresses(9) }));
    expect((await hosted.send({ to: addresses(1) })).status).toBe(202);
  });

  it('does not send what waited when it was blocked, either', async () => {
    await hosted.policy({ effect: 'allow', recipient_domains: ['example.com'] });
    const { body } = await hosted.send({ to: ['ana@example.org'] });
    expect(body.status).toBe('pending');
    // The message that asks a person is on its way before the server gets into trouble.
    await expect.poll(() => smtp.received.map(({ to }) => to[0])).toEqual(['owner@localhost']);
    smtp.script = { rcpt: { reply: '451 4.3.0 Later' } };
    const queued = await hosted.sent({ to: addresses(1) });
    const [first] = (await hosted.status(queued)).messages;
    await expect
      .poll(async () => (await hosted.message(first?.message_id ?? ''))?.attempts)
      .toBe(1);
    smtp.script = GONE;
    await hosted.ended(await hosted.sent({ to: addresses(10) }));
    smtp.script = {};
    const { project } = hosted;
    await writerOf(project).write((store) => store.emails.queue(body.batch_id, clock.now()));
    clock.advance(HOUR);
    await hosted.maintenance();
    for (const id of [body.batch_id, queued]) {
      expect(await hosted.ended(id)).toMatchObject([
        { status: 'failed', error: { code: 'send_blocked' } },
      ]);
    }
    expect(smtp.received).toHaveLength(1);
    const events = await hosted.events('email.failed');
    expect(
      events.filter(({ payload }) => (payload as { code: string }).code === 'send_blocked'),
    ).toHaveLength(2);
  });
});
