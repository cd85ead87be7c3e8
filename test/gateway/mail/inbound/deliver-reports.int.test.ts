import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../approvals/people.ts';
import { DOMAIN, TestSending } from '../outbound/sending.ts';
import { arrive, mailWith, reportWith, sentMessage } from './arrivals.ts';

let mail: TestSending;
beforeEach(async () => {
  mail = await TestSending.start();
  await mail.allowAll();
});
afterEach(() => mail.stop());

const report = (...given: Parameters<typeof reportWith>) =>
  mailWith({ from: null, subject: 'Undelivered' }, { report: reportWith(...given) });

const about = (messageId: string) => `<${messageId}@${DOMAIN}>`;

const message = async (batchId: string) => (await mail.status(batchId)).messages[0];

describe('a report about a message', () => {
  it('that did not arrive says so in the inbox, and nothing more is sent there', async () => {
    const { batchId, messageId, reportTo } = await sentMessage(mail);
    const bounce = report({ status: '5.1.1', diagnostic: '550 No such user' });
    expect(await arrive(mail, bounce, { recipients: [reportTo] })).toBe('report');
    expect(await message(batchId)).toMatchObject({
      status: 'bounced',
      error: { code: 'bounced', message: '550 No such user' },
    });
    const events = await mail.events('email.bounced');
    expect(events).toMatchObject([{ source: 'service', trust: 'service', verified: true }]);
    expect(events[0]?.payload).toEqual({
      message_id: messageId,
      batch_id: batchId,
      to: 'ana@example.com',
      subject: 'Hello',
      stage: 'dsn',
      code: 'bounced',
      smtp_code: null,
      enhanced_code: '5.1.1',
      diagnostic: '550 No such user',
      bounce_type: 'hard',
      at: new Date(mail.clock.now()).toISOString(),
    });
    expect(await mail.events('email.received')).toEqual([]);
    expect(await mail.ledger('email.bounced')).toMatchObject([{ subject: messageId }]);
    expect(await mail.ended(await mail.sent())).toMatchObject([
      { status: 'failed', error: { code: 'suppressed' } },
    ]);
  });

  it('is known by what it holds of the message, where it came to no address of its own', async () => {
    const { batchId, messageId } = await sentMessage(mail);
    expect(await arrive(mail, report({ status: '5.1.1' }, about(messageId)))).toBe('report');
    expect(await message(batchId)).toMatchObject({
      status: 'bounced',
      error: { message: 'No reason was given.' },
    });
    // Whoever was sent a copy of an answer knows as much.
    expect(await mail.ended(await mail.sent())).toMatchObject([{ status: 'sent' }]);
  });

  it('that came where answers go ends nothing but the message', async () => {
    const { batchId, address } = await sentMessage(mail);
    expect(await arrive(mail, report({ status: '5.1.1' }), { recipients: [address] })).toBe(
      'report',
    );
    expect(await message(batchId)).toMatchObject({ status: 'bounced' });
    expect(await mail.ended(await mail.sent())).toMatchObject([{ status: 'sent' }]);
  });

  it.each(['4.4.7', '5.2.2', '5.7.1'])('%s: another mail may arrive', async (status) => {
    const { batchId, reportTo } = await sentMessage(mail);
    await arrive(mail, report({ status }), { recipients: [reportTo] });
    expect(await message(batchId)).toMatchObject({ status: 'bounced' });
    const [event] = await mail.events('email.bounced');
    expect(event?.payload).toMatchObject({ bounce_type: 'soft', enhanced_code: status });
    expect(await mail.ended(await mail.sent())).toMatchObject([{ status: 'sent' }]);
  });

  it('whose reader complained says so, and nothing more is sent there', async () => {
    const { batchId, messageId } = await sentMessage(mail);
    await arrive(mail, report({ action: 'complaint' }, about(messageId)));
    expect(await message(batchId)).toMatchObject({
      status: 'bounced',
      error: { code: 'complained', message: 'The reader reported it.' },
    });
    const [event] = await mail.events('email.bounced');
    expect(event?.payload).toMatchObject({
      stage: 'complaint',
      code: 'complained',
      enhanced_code: null,
    });
    const [again] = await mail.ended(await mail.sent());
    expect(again).toMatchObject({ error: { code: 'suppressed' } });
    expect(again?.error?.message).toContain('complained before');
  });

  it.each(['delayed', 'delivered', 'relayed', 'expanded'] as const)(
    'that is %s changes nothing',
    async (action) => {
      const { batchId, reportTo } = await sentMessage(mail);
      const outcome = await arrive(mail, report({ action, status: '4.4.1' }), {
        recipients: [reportTo],
      });
      expect(outcome).toBe('report');
      expect(await message(batchId)).toMatchObject({ status: 'sent' });
      expect(await mail.events('email.*')).toEqual([]);
    },
  );

  it('counts once, however often and about however many recipients it comes', async () => {
    const { messageId, reportTo } = await sentMessage(mail);
    const twice = report({ status: '5.1.1' }, about(messageId));
    const [recipient] = twice.report?.recipients ?? [];
    if (!twice.report || !recipient) throw new Error('It has no recipient.');
    const many = { ...twice, report: { ...twice.report, recipients: [recipient, recipient] } };
    for (const one of [many, twice]) {
      await arrive(mail, one, { recipients: [reportTo] });
    }
    await Promise.all([twice, twice, twice].map((one) => arrive(mail, one)));
    expect(await mail.events('email.bounced')).toHaveLength(1);
    const use = await mail.project.store.read((store) =>
      store.emailAddresses.sums('2026-01-01', '2026-01-31'),
    );
    expect(use).toMatchObject({ sent: 1, bounced: 1 });
  });

  it('does nothing to one that never went out', async () => {
    await mail.policy({ effect: 'require_approval' });
    const { body } = await mail.send();
    const id = body.messages[0]?.message_id ?? '';
    await arrive(mail, report({ status: '5.1.1' }, about(id)));
    expect(await message(body.batch_id)).toMatchObject({ status: 'pending' });
    expect(await mail.events('email.bounced')).toEqual([]);
  });

  it('is of use to a project that takes no mail, too', async () => {
    const { batchId, reportTo } = await sentMessage(mail);
    const bounce = report({ status: '5.1.1' });
    expect(await arrive(mail, bounce, { recipients: [reportTo], source: null })).toBe('report');
    expect(await message(batchId)).toMatchObject({ status: 'bounced' });
  });
});

const worded = (basis: 'words' | 'guess', from: string, original: string | null = null) => {
  const { recipients, ...rest } = reportWith({ status: '5.1.1' }, original);
  const payload = { from: { address: from, name: '' }, subject: 'Your mail' };
  return mailWith(payload, { report: { ...rest, basis, recipients } });
};

describe('a report in the words of a server', () => {
  it('ends the message, at its return path and by its id', async () => {
    const one = await sentMessage(mail);
    const atPath = worded('words', 'mailer-daemon@mx.example.com');
    expect(await arrive(mail, atPath, { recipients: [one.reportTo] })).toBe('report');
    const two = await sentMessage(mail, 'bo@example.com');
    const byId = worded('words', 'mailer-daemon@mx.example.com', about(two.messageId));
    expect(await arrive(mail, byId)).toBe('report');
    for (const { batchId } of [one, two]) {
      expect(await message(batchId)).toMatchObject({ status: 'bounced' });
    }
    expect(await mail.events('email.received')).toEqual([]);
  });

  it('that a person may write too counts at the return path only', async () => {
    const { batchId, messageId, reportTo } = await sentMessage(mail);
    const guess = worded('guess', 'mail@elsewhere.example', about(messageId));
    expect(await arrive(mail, guess)).toMatchObject({ status: 'accepted' });
    expect(await message(batchId)).toMatchObject({ status: 'sent' });
    const again = worded('guess', 'mail@elsewhere.example');
    expect(await arrive(mail, again, { recipients: [reportTo] })).toBe('report');
    expect(await message(batchId)).toMatchObject({ status: 'bounced' });
  });

  it('is none if the reader wrote it: an absence notice goes to the return path, too', async () => {
    const { batchId, messageId, reportTo } = await sentMessage(mail);
    const notice = worded('guess', 'Ana+away@example.com');
    expect(await arrive(mail, notice, { recipients: [reportTo] })).toMatchObject({
      status: 'accepted',
    });
    expect(await message(batchId)).toMatchObject({ status: 'sent' });
    expect(await mail.events('email.received')).toMatchObject([{ reply_to: messageId }]);
  });
});

describe('a report about nothing of ours', () => {
  it('is a mail like any other', async () => {
    const { messageId } = await sentMessage(mail);
    const other = await mail.neighbour('other', { source: false });
    const foreign = report({ status: '5.1.1' }, '<abc@example.com>');
    expect(await arrive(mail, foreign)).toMatchObject({ status: 'accepted' });
    expect(await mail.events('email.received')).toMatchObject([
      { payload: { subject: 'Undelivered' } },
    ]);
    // Of another project's message nothing is known here.
    const theirs = report({ status: '5.1.1' }, about(messageId));
    expect(await arrive(other, theirs)).toBeNull();
    expect(await mail.events('email.bounced')).toEqual([]);
  });
});

describe('complaints', () => {
  it('of three readers end all sending', async () => {
    for (const name of ['ana', 'bo', 'cy']) {
      expect((await mail.send({ to: ['dee@example.com'] })).status).toBe(202);
      const { messageId } = await sentMessage(mail, `${name}@example.com`);
      await arrive(mail, report({ action: 'complaint' }, about(messageId)));
    }
    expect(await mail.send({ to: ['eve@example.com'] })).toMatchObject(
      refused(403, 'SEND_BLOCKED', { reason: '3 recipients complained within a week' }),
    );
    expect(await mail.ledger('send.blocked')).toHaveLength(1);
  });

  it('that nobody signed end nothing but their messages', async () => {
    for (const name of ['ana', 'bo', 'cy']) {
      const { messageId } = await sentMessage(mail, `${name}@example.com`);
      const complaint = reportWith({ action: 'complaint' }, about(messageId));
      await arrive(mail, mailWith({}, { report: complaint, verified: false }));
    }
    const again = await mail.ended(await mail.sent({ to: ['bo@example.com'] }));
    expect(again).toMatchObject([{ status: 'sent' }]);
    expect((await mail.send({ to: ['eve@example.com'] })).status).toBe(202);
  });
});
