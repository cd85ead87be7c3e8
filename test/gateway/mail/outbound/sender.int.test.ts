import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { replyTokenOf } from '../../../../shared/operations/email/project-address.ts';
import { parsedMail, valuesOf } from '../parsed-mail.ts';
import { TestSending } from './sending.ts';

const SECOND = 1000;

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

describe('a mail that is sent', () => {
  it('goes out once to each recipient, under its own id, from the address of the project', async () => {
    const id = await mail.sent({ to: ['ana@example.com', 'bo@example.org'] });
    const messages = await mail.ended(id);
    expect(messages.map(({ to, status }) => [to, status])).toEqual([
      ['ana@example.com', 'sent'],
      ['bo@example.org', 'sent'],
    ]);
    expect(smtp.received).toHaveLength(2);
    for (const { message_id: messageId, to } of messages) {
      const got = smtp.received.find((one) => one.to[0] === to);
      const [user = '', domain] = mail.address.split('@');
      expect(got?.from).toMatch(new RegExp(`^${user}\\+b\\.[0-9a-f]{20}@${domain}$`));
      const parsed = parsedMail(got?.raw ?? '');
      expect(valuesOf(parsed, 'message-id')).toEqual([`<${messageId}@agents.test>`]);
      expect(valuesOf(parsed, 'from')[0]).toBe(`Test <${mail.address}>`);
      const token = /\+b\.(.*)@/.exec(got?.from ?? '')?.[1] ?? '';
      expect(valuesOf(parsed, 'reply-to')).toEqual([
        `${user}+r.${replyTokenOf(token)}@${domain ?? ''}`,
      ]);
      expect(valuesOf(parsed, 'auto-submitted')).toEqual(['auto-generated']);
      expect(valuesOf(parsed, 'to')).toEqual([to]);
      expect(parsed.text).toBe('Hi.\n');
    }
    expect(new Set(smtp.received.map(({ from }) => from)).size).toBe(2);
    expect(await mail.ledger('email.sent')).toHaveLength(2);
  });

  it('names no address for replies where none are wanted, and still hears of bounces', async () => {
    await mail.ended(await mail.sent({ reply_to_inbox: false }));
    const [got] = smtp.received;
    expect(valuesOf(parsedMail(got?.raw ?? ''), 'reply-to')).toEqual([]);
    expect(got?.from).toContain('+b.');
  });
});

describe('a server that does not take a mail now', () => {
  it('is tried again, later each time', async () => {
    smtp.script = { end: { reply: '451 4.3.0 Try later' } };
    const { body } = await mail.send();
    const id = body.messages[0]?.message_id ?? '';
    await expect.poll(async () => (await mail.message(id))?.attempts).toBe(1);
    const first = await mail.message(id);
    expect(first).toMatchObject({ status: 'queued', handed_at: null, code: null });
    expect(first?.due_at).toBe(mail.clock.now() + 15 * SECOND);
    await mail.maintenance();
    expect(smtp.begun).toBe(1);
    mail.clock.advance(15 * SECOND);
    await mail.maintenance();
    await expect.poll(async () => (await mail.message(id))?.attempts).toBe(2);
    expect((await mail.message(id))?.due_at).toBe(mail.clock.now() + 30 * SECOND);
    smtp.script = {};
    mail.clock.advance(30 * SECOND);
    await mail.maintenance();
    expect(await mail.ended(body.batch_id)).toMatchObject([{ status: 'sent' }]);
    expect(smtp.received).toHaveLength(1);
    expect(await mail.events('email.failed')).toEqual([]);
  });

  it('is given up after a day, and that is told', async () => {
    smtp.script = { rcpt: { reply: '450 4.2.1 Greylisted' } };
    const { body } = await mail.send();
    const id = body.messages[0]?.message_id ?? '';
    for (let attempt = 1; attempt < 32; attempt += 1) {
      await expect.poll(async () => (await mail.message(id))?.attempts).toBe(attempt);
      const dueAt = (await mail.message(id))?.due_at ?? 0;
      mail.clock.advance(dueAt - mail.clock.now());
      await mail.maintenance();
    }
    expect(await mail.ended(body.batch_id)).toMatchObject([
      { status: 'failed', error: { code: 'gave_up' } },
    ]);
    const [event] = await mail.events('email.failed');
    expect(event?.payload).toMatchObject({
      code: 'gave_up',
      smtp_code: 450,
      enhanced_code: '4.2.1',
      diagnostic: 'The mail server does not take the address now: 450 4.2.1 Greylisted',
    });
    mail.clock.advance(86_400_000);
    await mail.maintenance();
    expect(await mail.events('email.failed')).toHaveLength(1);
  });
});

describe('a server that refuses a mail', () => {
  it('ends it, and the inbox is told', async () => {
    smtp.script = { end: { reply: '554 5.6.0 Not like this' } };
    const id = await mail.sent({ subject: 'Your invoice' });
    const [message] = await mail.ended(id);
    expect(message).toEqual({
      message_id: message?.message_id,
      to: 'ana@example.com',
      status: 'failed',
      error: {
        code: 'refused',
        message: 'The mail server refuses the mail: 554 5.6.0 Not like this',
      },
    });
    const [event, ...others] = await mail.events('email.failed');
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      source: 'service',
      trust: 'service',
      verified: true,
      status: 'pending',
    });
    expect(event?.payload).toEqual({
      message_id: message?.message_id,
      batch_id: id,
      to: 'ana@example.com',
      subject: 'Your invoice',
      stage: 'smtp',
      code: 'refused',
      smtp_code: 554,
      enhanced_code: '5.6.0',
      diagnostic: 'The mail server refuses the mail: 554 5.6.0 Not like this',
      bounce_type: null,
      at: new Date(mail.clock.now()).toISOString(),
    });
    expect(await mail.ledger('email.failed')).toHaveLength(1);
    // It was about the mail: another one may go there.
    smtp.script = {};
    expect(await mail.ended(await mail.sent())).toMatchObject([{ status: 'sent' }]);
  });

  it('for an address that it does not know is not asked again', async () => {
    smtp.scripts.set('gone@example.com', { rcpt: { reply: '550 5.1.1 No such user' } });
    const to = ['gone@example.com', 'ana@example.com'];
    expect(await mail.ended(await mail.sent({ to }))).toMatchObject([
      { status: 'failed', error: { code: 'refused' } },
      { status: 'sent' },
    ]);
    const before = smtp.commands.length;
    const again = await mail.ended(await mail.sent({ to: ['Gone@Example.com'] }));
    expect(again).toMatchObject([{ status: 'failed', error: { code: 'suppressed' } }]);
    expect(smtp.commands).toHaveLength(before);
    expect((await mail.events('email.failed')).map(({ payload }) => payload)).toMatchObject([
      { code: 'refused', enhanced_code: '5.1.1' },
      { code: 'suppressed', smtp_code: null, enhanced_code: null },
    ]);
  });
});

describe('a server that dies with the mail in its hands', () => {
  it.each(['close', 'hang'] as const)('(%s) is not given it again', async (act) => {
    smtp.script = { end: act };
    const { body } = await mail.send();
    const id = body.messages[0]?.message_id ?? '';
    await expect.poll(() => smtp.received.length).toBe(1);
    if (act === 'hang') smtp.hangUp();
    const [message] = await mail.ended(body.batch_id);
    expect(message).toMatchObject({ status: 'failed', error: { code: 'unknown' } });
    smtp.script = {};
    mail.clock.advance(86_400_000);
    await mail.maintenance();
    await mail.ended(await mail.sent({ to: ['bo@example.com'] }));
    expect(smtp.received.map(({ to }) => to[0])).toEqual(['ana@example.com', 'bo@example.com']);
    const events = await mail.events('email.failed');
    expect(events.map(({ payload }) => payload)).toMatchObject([
      { message_id: id, code: 'unknown', smtp_code: null },
    ]);
    expect(String(message?.error?.message)).toContain('It may have arrived');
  });

  it('before a byte of it went is given it again', async () => {
    smtp.script = { data: 'close' };
    const { body } = await mail.send();
    const id = body.messages[0]?.message_id ?? '';
    await expect.poll(async () => (await mail.message(id))?.attempts).toBe(1);
    expect(await mail.message(id)).toMatchObject({ status: 'queued', handed_at: null });
    smtp.script = {};
    mail.clock.advance(15 * SECOND);
    await mail.maintenance();
    expect(await mail.ended(body.batch_id)).toMatchObject([{ status: 'sent' }]);
    expect(smtp.received).toHaveLength(1);
  });
});

describe('several mails', () => {
  it('do not wait for one whose server says nothing', async () => {
    smtp.scripts.set('slow@example.com', { end: 'hang' });
    const slow = await mail.sent({ to: ['slow@example.com'] });
    await expect.poll(() => smtp.begun).toBe(1);
    const to = Array.from({ length: 20 }, (_, index) => `a${index}@example.com`);
    const others = await mail.ended(await mail.sent({ to }));
    expect(others.map(({ status }) => status)).toEqual(to.map(() => 'sent'));
    expect((await mail.status(slow)).messages).toMatchObject([{ status: 'queued' }]);
    expect(smtp.received.filter((one) => one.to[0] !== 'slow@example.com')).toHaveLength(20);
    smtp.hangUp();
    expect(await mail.ended(slow)).toMatchObject([{ error: { code: 'unknown' } }]);
  });
});
