import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MailPayload } from '../../../../gateway/mail/inbound/read-mail.ts';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { refused, TestPeople } from '../../approvals/people.ts';
import { arrived, mailWith } from '../inbound/arrivals.ts';
import { parsedMail, valuesOf } from '../parsed-mail.ts';
import { fieldsOf, TestSending } from './sending.ts';

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

const named = (...addresses: string[]) => addresses.map((address) => ({ address, name: '' }));

const came = (payload: Partial<MailPayload> = {}, more: Parameters<typeof mailWith>[1] = {}) =>
  arrived(mail, mailWith({ message_id: '<1@example.com>', subject: 'An order', ...payload }, more));

/** A reply to this event as a call says it: without recipients and subject of its own. */
const answer = (event: string, body: Record<string, unknown> = {}) =>
  mail.send({ to: undefined, subject: undefined, reply_to_event: event, ...body });

async function sentTo(event: string, body: Record<string, unknown> = {}) {
  const { body: batch } = await answer(event, body);
  expect(batch).toMatchObject({ status: 'queued' });
  await mail.ended(batch.batch_id);
  return smtp.received.map(({ to, raw }) => ({ reader: to.join(), raw, parsed: parsedMail(raw) }));
}

const complaintOf = async (event: string, body: Record<string, unknown> = {}) => {
  const refusal = await answer(event, body);
  expect(refusal).toMatchObject(refused(400, 'VALIDATION_FAILED'));
  return fieldsOf(refusal.body);
};

describe('a reply', () => {
  it('goes to the sender, in the thread, and quotes the mail', async () => {
    const event = await came({
      references: ['<0@example.com>'],
      text: 'Two of them.\n> One?\n\nAna',
    });
    const [got] = await sentTo(event, { text: 'They are on their way.' });
    const parsed = got?.parsed ?? { headers: [], text: '' };
    expect(got?.reader).toBe('ana@example.com');
    expect(valuesOf(parsed, 'to')).toEqual(['ana@example.com']);
    expect(valuesOf(parsed, 'subject')).toEqual(['Re: An order']);
    expect(valuesOf(parsed, 'in-reply-to')).toEqual(['<1@example.com>']);
    const [own = ''] = valuesOf(parsed, 'message-id');
    const [replyTo = ''] = valuesOf(parsed, 'reply-to');
    expect(valuesOf(parsed, 'references')).toEqual([
      `<0@example.com> <1@example.com> <${replyTo}> ${own}`,
    ]);
    expect(parsed.text).toBe(
      [
        'They are on their way.',
        '',
        'On 2026-01-02 at 03:00 UTC, Ana <ana@example.com> wrote:',
        '> Two of them.',
        '>> One?',
        '>',
        '> Ana',
        '',
      ].join('\n'),
    );
  });

  it('quotes nothing where that is not wanted, and has the subject of the call', async () => {
    const [got] = await sentTo(await came(), { quote: false, subject: 'Your lamp', text: 'Yes.' });
    expect(got?.parsed.text).toBe('Yes.\n');
    expect(valuesOf(got?.parsed ?? { headers: [], text: '' }, 'subject')).toEqual(['Your lamp']);
  });

  it('goes to Reply-To where the mail has one', async () => {
    const [got] = await sentTo(await came({ reply_to: named('orders@example.org') }));
    expect(got?.reader).toBe('orders@example.org');
  });

  it('to all goes to everybody else too, once, and not to the project', async () => {
    const event = await came({
      to: named(mail.address, 'bo@example.com'),
      cc: named('cy@example.org', 'BO@example.com', 'ana@example.com'),
    });
    const got = await sentTo(event, { reply_all: true, bcc: ['dee@example.net'] });
    expect(got.map(({ reader }) => reader).toSorted()).toEqual([
      'ana@example.com',
      'bo@example.com',
      'cy@example.org',
      'dee@example.net',
    ]);
    for (const { parsed, raw } of got) {
      expect(valuesOf(parsed, 'to')).toEqual(['ana@example.com']);
      expect(valuesOf(parsed, 'in-reply-to')).toEqual(['<1@example.com>']);
      expect(raw).not.toContain('dee@example.net');
    }
  });

  it('has one Re: and no more references than fit', async () => {
    const references = Array.from({ length: 400 }, (_, nth) => `<r${nth}@example.com>`);
    const [got] = await sentTo(await came({ subject: 'RE: An order', references }));
    const parsed = got?.parsed ?? { headers: [], text: '' };
    expect(valuesOf(parsed, 'subject')).toEqual(['RE: An order']);
    const ids = (valuesOf(parsed, 'references')[0] ?? '').split(' ');
    expect(ids).toHaveLength(22);
    expect(ids.slice(0, 2)).toEqual(['<r0@example.com>', '<r382@example.com>']);
    expect(ids[19]).toBe('<1@example.com>');
  });

  it('lets nothing of the mail into its headers', async () => {
    const event = await came({
      message_id: `<${'a'.repeat(400)}@example.com>`,
      references: ['<a\r\nBcc:x@evil.example>', '<ü@example.com>', '<ok@example.com>'],
      subject: 'Hi\r\nBcc: x@evil.example',
    });
    const [got] = await sentTo(event);
    const parsed = got?.parsed ?? { headers: [], text: '' };
    expect(valuesOf(parsed, 'bcc')).toEqual([]);
    expect(valuesOf(parsed, 'in-reply-to')).toEqual([]);
    expect(valuesOf(parsed, 'references')[0]).toMatch(
      /^<ok@example\.com> <[a-z0-9-]+\+r\.[0-9a-f]{20}@agents\.test> <msg_/,
    );
  });

  it('to a large mail quotes its beginning', async () => {
    const [got] = await sentTo(await came({ text: 'word '.repeat(60_000) }));
    expect(got?.parsed.text.length).toBeLessThan(25_000);
    expect(got?.parsed.text).toContain('\n> […]\n');
  });
});

describe('a mail that cannot be answered just so', () => {
  it('is one that a program sent: naming the address answers it', async () => {
    const event = await came({ auto_submitted: true });
    expect(await complaintOf(event)).toEqual(['reply_to_event']);
    const [got] = await sentTo(event, { to: ['ana@example.com'] });
    expect(valuesOf(got?.parsed ?? { headers: [], text: '' }, 'in-reply-to')).toHaveLength(1);
  });

  it.each([
    { from: null },
    { from: { address: '', name: 'Ana' } },
    { from: { address: 'änä@example.com', name: '' } },
    { reply_to: named('a b@example.com') },
    { reply_to: named('x%example.org@example.com') },
  ])('has no address for answers: %j', async (payload) => {
    expect(await complaintOf(await came(payload))).toEqual(['reply_to_event']);
  });

  it('has too many recipients, or one that cannot be written to', async () => {
    const many = Array.from({ length: 60 }, (_, nth) => `a${nth}@example.com`);
    const crowd = await came({ cc: named(...many) });
    expect(await complaintOf(crowd, { reply_all: true })).toEqual(['reply_all']);
    const odd = await came({ message_id: '<2@example.com>', cc: named('ü@example.com') });
    expect(await complaintOf(odd, { reply_all: true })).toEqual(['reply_all']);
    expect(await complaintOf(odd, { cc: ['Ana@example.com'] })).toEqual(['cc[0]']);
  });

  it('is no mail, or one of another project', async () => {
    expect(await complaintOf('evt_00000000000000000000000000')).toEqual(['reply_to_event']);
    const other = await mail.neighbour('other');
    const theirs = await arrived(other, mailWith());
    expect(await complaintOf(theirs)).toEqual(['reply_to_event']);
    expect(await complaintOf('evt_x')).toContain('reply_to_event');
  });

  it('is asked for with the fields that any other mail needs', async () => {
    const refusal = await mail.send({ to: undefined, subject: undefined });
    expect(fieldsOf(refusal.body)).toEqual(['to', 'subject']);
  });
});

describe('the policy of a reply', () => {
  it('looks at the addresses that come from the mail', async () => {
    await mail.policy(
      { effect: 'deny', tool: ['email_send'], recipient_domains: ['example.net'] },
      { effect: 'allow', tool: ['email_send'] },
    );
    const event = await came({ cc: named('dee@example.net') });
    expect(await answer(event, { reply_all: true })).toMatchObject(refused(403, 'POLICY_DENIED'));
    expect((await answer(event)).body).toMatchObject({ status: 'queued' });
  });

  it('may ask a person, who sees what it answers, and that nothing proves its sender', async () => {
    await mail.policy();
    const people = await TestPeople.of(mail.gateway, mail.clock);
    const event = await came({}, { verified: false });
    const { body } = await answer(event, { text: 'Yes.' });
    const request = await people.status(body.request_id ?? '');
    expect(request).toMatchObject({ kind: 'email_send', reply_to_event: event });
    expect(request).toMatchObject({
      summary: 'Send "Re: An order" to ana@example.com',
      details: [
        `From: ${mail.address}`,
        'To:',
        '  ana@example.com  (NEW: never written to before)',
        'Subject: Re: An order',
        `Answers: "An order" (${event}) from ana@example.com, not verified`,
        'Quotes it below the text, 79 characters.',
        '',
        'Yes.',
      ].join('\n'),
    });
    const again = await answer(event, { text: 'Yes.' });
    expect(again.body.request_id).toBe(body.request_id);
    const bare = await answer(event, { text: 'Yes.', quote: false });
    expect(bare.body.request_id).not.toBe(body.request_id);
  });
});
