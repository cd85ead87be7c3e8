import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { refused, TestPeople } from '../../approvals/people.ts';
import { arrive, mailWith, reportWith } from '../inbound/arrivals.ts';
import { parsedMail, valuesOf } from '../parsed-mail.ts';
import { fieldsOf, TestSending } from './sending.ts';

let smtp: FakeSmtp;
let mail: TestSending;
beforeEach(async () => {
  smtp = await FakeSmtp.start();
  mail = await TestSending.start({ smtp });
});
afterEach(async () => {
  await mail.stop();
  await smtp.close();
});

const ANA = 'ana@example.com';
const BO = 'bo@example.com';
const CY = 'cy@example.org';
const DEE = 'dee@example.net';

/** What each recipient got, by the address that the server was told. */
async function received(body: Record<string, unknown>) {
  const id = await mail.sent(body);
  const messages = await mail.ended(id);
  const copies = new Map(
    smtp.received.map(({ to, raw }) => {
      const parsed = parsedMail(raw);
      const [shownTo = ''] = valuesOf(parsed, 'to');
      return [to.join(), { raw, parsed, to: shownTo, cc: valuesOf(parsed, 'cc') }];
    }),
  );
  return { id, messages, copies };
}

const addresses = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => `${name}${index}@example.com`);

describe('a mail with copies', () => {
  beforeEach(() => mail.allowAll());

  it('shows To and Cc to everybody, and blind copies to nobody', async () => {
    const { messages, copies } = await received({ to: [ANA, BO], cc: [CY], bcc: [DEE] });
    expect(
      messages.map(({ to, status, ...more }) => [to, status, 'copy' in more && more.copy]),
    ).toEqual([
      [ANA, 'sent', false],
      [BO, 'sent', false],
      [CY, 'sent', 'cc'],
      [DEE, 'sent', 'bcc'],
    ]);
    expect([...copies.keys()].toSorted()).toEqual([ANA, BO, CY, DEE]);
    for (const { raw, to, cc, parsed } of copies.values()) {
      expect([to, cc]).toEqual([`${ANA}, ${BO}`, [CY]]);
      expect(raw).not.toContain(DEE);
      expect(valuesOf(parsed, 'bcc')).toEqual([]);
    }
  });

  it('is one conversation in the programs of all who see it', async () => {
    const { messages, copies } = await received({ cc: [CY] });
    const [first] = messages;
    for (const { message_id: own, to } of messages) {
      const parsed = copies.get(to)?.parsed ?? { headers: [], text: '' };
      const [replyTo = ''] = valuesOf(parsed, 'reply-to');
      const ids = [`${first?.message_id ?? ''}@agents.test`, replyTo, `${own}@agents.test`];
      const all = [...new Set(ids)].map((id) => `<${id}>`);
      expect(valuesOf(parsed, 'references')).toEqual([all.join(' ')]);
    }
  });

  it('keeps recipients apart whom only a blind copy joins', async () => {
    const { copies } = await received({ to: [ANA, BO], bcc: [DEE] });
    expect(copies.get(ANA)).toMatchObject({ to: ANA, cc: [] });
    expect(copies.get(BO)).toMatchObject({ to: BO, cc: [] });
    expect(copies.get(DEE)).toMatchObject({ to: `${ANA}, ${BO}`, cc: [] });
    for (const { raw } of copies.values()) expect(raw).not.toContain(DEE);
  });

  it('counts every copy, and a copy bounces by itself', async () => {
    const { messages } = await received({ cc: [CY], bcc: [DEE] });
    expect(await mail.asked()).toBe(3);
    const returnPath = smtp.received.find(({ to }) => to.includes(DEE))?.from ?? '';
    const report = reportWith({ status: '5.1.1' });
    await arrive(mail, mailWith({}, { report }), { recipients: [returnPath] });
    const [event] = await mail.events('email.bounced');
    expect(event?.payload).toMatchObject({ to: DEE, message_id: messages[2]?.message_id });
  });

  it.each([
    [{ cc: [ANA] }, ['cc[0]']],
    [{ bcc: ['ANA@example.com'] }, ['bcc[0]']],
    [{ cc: [CY, DEE], bcc: [DEE, 'x'] }, ['bcc[1]', 'bcc[0]']],
    [{ cc: ['cy@example.org\r\nBcc: dee@example.net'] }, ['cc[0]']],
    [{ bcc: ['cy@example.org, dee@example.net'] }, ['bcc[0]']],
    [{ cc: ['Cy <cy@example.org>'] }, ['cc[0]']],
    [{ cc: ['cy%example.net@example.org'] }, ['cc[0]']],
    [{ to: addresses(20, 'a'), cc: addresses(20, 'b'), bcc: addresses(11, 'c') }, ['bcc']],
    [{ to: addresses(20, 'a'), cc: addresses(31, 'b') }, ['cc']],
    [{ cc: addresses(51, 'b') }, ['cc']],
  ])(
    'takes no recipient twice, none that is no plain address, and at most 50 (%#)',
    async (body, paths) => {
      const answer = await mail.send(body);
      expect(answer).toMatchObject(refused(400, 'VALIDATION_FAILED'));
      expect(fieldsOf(answer.body)).toEqual(paths);
      expect(await mail.asked()).toBe(0);
    },
  );

  it('is not for the project itself', async () => {
    for (const field of ['cc', 'bcc']) {
      expect(fieldsOf((await mail.send({ [field]: [mail.address] })).body)).toEqual([
        `${field}[0]`,
      ]);
    }
  });
});

describe('the policy of a mail with copies', () => {
  it.each(['cc', 'bcc'])('forbids the whole mail for one address in %s', async (field) => {
    await mail.policy(
      { effect: 'deny', tool: ['email_send'], recipient_domains: ['example.net'] },
      { effect: 'allow', tool: ['email_send'] },
    );
    expect(await mail.send({ [field]: [DEE] })).toMatchObject(refused(403, 'POLICY_DENIED'));
    expect((await mail.send({ [field]: [CY] })).body).toMatchObject({ status: 'queued' });
  });

  it.each(['cc', 'bcc'])('allows no address in %s that only the others may get', async (field) => {
    await mail.policy({
      effect: 'allow',
      tool: ['email_send'],
      recipient_domains: ['example.com'],
    });
    expect((await mail.send({ [field]: [DEE] })).body).toMatchObject({ status: 'pending' });
    expect((await mail.send({ [field]: [BO] })).body).toMatchObject({ status: 'queued' });
  });
});

describe('a person who decides about a mail with copies', () => {
  it('sees every recipient, blind copies too', async () => {
    const people = await TestPeople.of(mail.gateway, mail.clock);
    const { body } = await mail.send({ to: [ANA, BO], cc: [CY], bcc: [DEE], text: 'Hi.' });
    const request = await people.status(body.request_id ?? '');
    expect(request).toMatchObject({ summary: `Send "Hello" to ${ANA}, ${BO} and 2 more` });
    expect(request).toMatchObject({
      details: [
        `From: ${mail.address}`,
        'To:',
        `  ${ANA}  (NEW: never written to before)`,
        `  ${BO}  (NEW: never written to before)`,
        'Cc:',
        `  ${CY}  (NEW: never written to before)`,
        "Bcc, which the others don't see:",
        `  ${DEE}  (NEW: never written to before)`,
        'Subject: Hello',
        '',
        'Hi.',
      ].join('\n'),
    });
  });

  it('is asked again where a copy is more, and not for the same', async () => {
    const first = await mail.send({ bcc: [DEE] });
    expect((await mail.send({ bcc: [DEE] })).body.request_id).toBe(first.body.request_id);
    expect((await mail.send({ cc: [DEE] })).body.request_id).not.toBe(first.body.request_id);
    expect((await mail.send()).body.request_id).not.toBe(first.body.request_id);
  });
});
