import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isoTime } from '../../../shared/lib/clock.ts';
import { FakeSmtp } from '../../helpers/fake-smtp.ts';
import { TestSending } from '../mail/outbound/sending.ts';

const DAY = 86_400_000;
const REASON = 'Complaints of customers';
const HEX: unknown = expect.stringMatching(/^[0-9a-f]{64}$/);

let smtp: FakeSmtp;
let mail: TestSending;
beforeEach(async () => {
  smtp = await FakeSmtp.start();
  mail = await TestSending.start({ smtp });
  await mail.allowAll();
});
afterEach(async () => {
  await mail.stop();
  await smtp.close();
});

const approvals = () => mail.gateway.gateway.operator;
const order = (reason: string | null) => approvals().setSendBlock(mail.project.info.slug, reason);

/** Sends to so many addresses that were not written to before; the ids of the messages, once they are out. */
async function sendTo(count: number, name: string): Promise<string[]> {
  const to = Array.from({ length: count }, (_, n) => `${name}-${n}@example.com`);
  const messages = await mail.ended(await mail.sent({ to }));
  expect(messages.map(({ status }) => status)).toEqual(to.map(() => 'sent'));
  return messages.map(({ message_id: id }) => id);
}

/** Reports about messages come in. */
async function report(ids: readonly string[], action: 'failed' | 'complaint'): Promise<void> {
  const reports = ids.map((messageId) => ({
    messageId,
    recipient: { address: null, action, status: '5.1.1', diagnostic: null },
    by: 'return_path' as const,
  }));
  const now = mail.clock.now();
  expect(await mail.project.writes.run('mailReports', { reports, now })).toBe(ids.length);
}

const blocked = async () => {
  const { body } = await mail.gateway.call<{ emails: { blocked: string | null } }>(
    'GET',
    '/v1/usage',
  );
  return body.emails.blocked;
};

const bouncedOf = (sent: number): RegExp =>
  new RegExp(`^10 messages bounced .* ${sent} were sent$`);

/** Ten of ten messages bounce. */
async function blockByBounces(): Promise<void> {
  await report(await sendTo(10, 'first'), 'failed');
  expect(await blocked()).toMatch(bouncedOf(10));
}

describe('an order to block', () => {
  it('refuses calls with the reason, and ends what waits to be sent', async () => {
    smtp.script = { rcpt: { reply: '450 4.2.1 Greylisted' } };
    const waiting = await mail.send();
    const id = waiting.body.messages[0]?.message_id ?? '';
    await expect.poll(async () => (await mail.message(id))?.attempts).toBe(1);
    const at = isoTime(mail.clock.now());
    const { project } = mail;
    const { id: projectId, slug, name } = project.info;
    expect(await order(REASON)).toEqual({
      project: { id: projectId, slug, name },
      blocked: { reason: REASON, since: at },
      changed: true,
    });
    expect((await mail.send()).body.error).toMatchObject({
      code: 'SEND_BLOCKED',
      details: { reason: REASON },
    });
    smtp.script = {};
    mail.clock.advance(DAY);
    await mail.maintenance();
    expect(await mail.ended(waiting.body.batch_id)).toMatchObject([
      { status: 'failed', error: { code: 'send_blocked' } },
    ]);
    expect(smtp.received).toEqual([]);
  });

  it('is in the ledger, once however often it is repeated', async () => {
    const { blocked: first } = await order(REASON);
    mail.clock.advance(DAY);
    expect(await order(REASON)).toMatchObject({ blocked: first, changed: false });
    const entries = await mail.ledger('send.blocked');
    expect(entries).toMatchObject([
      { subject: mail.project.info.id, key_id: null, outcome: 'ok', input_digest: HEX },
    ]);
  });

  it('with another reason replaces it, and is blocked since the first one', async () => {
    const { blocked: first } = await order(REASON);
    mail.clock.advance(DAY);
    const second = await order('Unpaid');
    expect(second).toMatchObject({
      blocked: { reason: 'Unpaid', since: first?.since },
      changed: true,
    });
    expect(await mail.ledger('send.blocked')).toHaveLength(2);
    expect(await blocked()).toBe('Unpaid');
  });

  it('of orders that come at once leaves one', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => order(REASON)));
    expect(all.filter(({ changed }) => changed)).toHaveLength(1);
    expect(await mail.ledger('send.blocked')).toHaveLength(1);
  });
});

const emails = async () => (await approvals().list(1, undefined)).items[0]?.emails;

it('the list tells what was asked to be sent in this month', async () => {
  await sendTo(3, 'ana');
  expect(await emails()).toEqual({ this_month: 3, blocked: null });
  mail.clock.advance(31 * DAY);
  expect(await emails()).toEqual({ this_month: 0, blocked: null });
});

describe('an order to unblock', () => {
  it('changes nothing where nothing is blocked', async () => {
    expect(await order(null)).toMatchObject({ blocked: null, changed: false });
    expect(await mail.ledger('send.unblocked')).toEqual([]);
  });

  it('lets mail out again, and is in the ledger once', async () => {
    await order(REASON);
    expect(await order(null)).toMatchObject({ blocked: null, changed: true });
    expect(await order(null)).toMatchObject({ blocked: null, changed: false });
    expect(await mail.ledger('send.unblocked')).toHaveLength(1);
    await sendTo(1, 'again');
    expect((await mail.gateway.call('POST', '/v1/ledger/verify', { body: {} })).body).toMatchObject(
      { ok: true },
    );
  });

  it('makes the reports of before count no longer, those of the same day included', async () => {
    await blockByBounces();
    await order(null);
    const ids = await sendTo(20, 'second');
    // With those of before it would be 19 of 30.
    await report(ids.slice(0, 9), 'failed');
    expect(await blocked()).toBeNull();
    await report(ids.slice(9, 10), 'failed');
    expect(await blocked()).toMatch(bouncedOf(30));
  });

  it('does not forgive complaints of afterwards', async () => {
    await report(await sendTo(3, 'first'), 'complaint');
    expect(await blocked()).toBe('3 recipients complained within a week');
    await order(null);
    const ids = await sendTo(3, 'second');
    await report(ids.slice(0, 2), 'complaint');
    expect(await blocked()).toBeNull();
    await report(ids.slice(2), 'complaint');
    expect(await blocked()).toBe('3 recipients complained within a week');
  });

  it('counts what was sent before, about which reports may still come', async () => {
    const ids = await sendTo(50, 'first');
    await report(ids.slice(0, 10), 'failed');
    await order(null);
    await report(ids.slice(10, 19), 'failed');
    expect(await blocked()).toBeNull();
    await report(ids.slice(19, 20), 'failed');
    expect(await blocked()).toMatch(bouncedOf(50));
  });

  it('forgives on the days after, and is forgotten once the week is over', async () => {
    await blockByBounces();
    await order(null);
    mail.clock.advance(DAY);
    const second = await sendTo(20, 'second');
    await report(second.slice(0, 9), 'failed');
    expect(await blocked()).toBeNull();
    // By then the day of the order is out of the week, and the one after it the first in it.
    mail.clock.advance(6 * DAY);
    await report(second.slice(9, 10), 'failed');
    expect(await blocked()).toMatch(bouncedOf(20));
  });

  it('lifts a block of an operator like one of the service', async () => {
    await blockByBounces();
    await order(REASON);
    expect(await blocked()).toBe(REASON);
    await order(null);
    expect(await blocked()).toBeNull();
    expect(await mail.ledger('send.blocked')).toHaveLength(2);
  });
});
