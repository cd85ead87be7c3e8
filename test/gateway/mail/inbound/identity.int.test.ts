import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Envelope } from '../../../../shared/kernel/envelope.ts';
import type { DeliveryAnswer } from '../../../../gateway/commit/commands/inbox/delivery.ts';
import type { MailPayload, ReadMail } from '../../../../gateway/mail/inbound/read-mail.ts';
import { TestSending } from '../outbound/sending.ts';
import { arrive, fileWith, mailWith } from './arrivals.ts';

const DAY = 86_400_000;

let mail: TestSending;
beforeAll(async () => {
  mail = await TestSending.start();
});
afterAll(() => mail.stop());

/** A mail, and another one with its Message-ID. */
interface Form {
  readonly what: string;
  readonly first?: Partial<MailPayload>;
  readonly second?: Partial<MailPayload>;
  readonly read?: Partial<Omit<ReadMail, 'html'>>;
  readonly firstRead?: Partial<Omit<ReadMail, 'html'>>;
  readonly later?: number;
}

const ANA = { address: 'ana@example.com', name: 'Ana' };
const named = (name: string) => ({ from: { address: 'ana@example.com', name } });
const from = (address: string) => ({ from: { address, name: 'Ana' } });
const subject = (text: string) => ({ subject: text });

const parcel = (nth: number) => subject(`Parcel ${nth} is on its way`);

const AGAIN: readonly Form[] = [
  { what: 'the same' },
  { what: 'with other trace fields' },
  { what: 'with a footer that a list adds', second: { text: 'Two of them.\n-- \nlist' } },
  { what: 'with another text', second: { text: 'Three.', text_stripped: 'Three.' } },
  { what: 'without its text', second: { text: null, text_stripped: null } },
  { what: 'with other recipients', second: { to: [{ address: 'x@y.example', name: '' }] } },
  { what: 'with a copy for somebody', second: { cc: [ANA] } },
  { what: 'with an address for answers', second: { reply_to: [ANA] } },
  { what: 'in a thread', second: { in_reply_to: '<q@x.example>', references: ['<q@x.example>'] } },
  { what: 'with a file', read: { files: [fileWith('a.txt', 'one')] } },
  { what: 'as a large one', read: { size_bytes: 20_000_000 } },
  { what: 'incomplete', second: { incomplete: 'too_large' } },
  { what: 'marked by a list as automatic', second: { auto_submitted: true } },
  { what: 'not verified', read: { verified: false } },
  { what: 'not verified, both times', firstRead: { verified: false }, read: { verified: false } },
  { what: 'with the sender in capitals', second: from('ANA@EXAMPLE.COM') },
  { what: 'with a subject folded otherwise', second: subject('An\t order') },
  { what: 'with blanks around its subject', second: subject(' An order ') },
  { what: 'without a subject, both times', first: subject(''), second: subject('') },
  { what: 'without a date, both times', first: { date: null }, second: { date: null } },
  {
    what: 'without a sender, both times',
    first: { from: null },
    second: { from: null },
    firstRead: { verified: false },
    read: { verified: false },
  },
  { what: 'after a day', later: DAY },
  { what: 'after 30 days', later: 30 * DAY },
];

const OTHERS: readonly Form[] = [
  {
    what: 'the next parcel',
    first: parcel(1),
    second: parcel(2),
  },
  { what: 'a number in the subject', second: subject('An order 2') },
  { what: 'no subject', second: subject('') },
  { what: 'a subject where none was', first: subject(''), second: subject('An order') },
  { what: 'a subject in capitals', second: subject('AN ORDER') },
  { what: 'another mark before the subject', second: subject('Re: An order') },
  { what: 'the mark of a list before the subject', second: subject('[shop] An order') },
  { what: 'an accent in the subject', second: subject('Án order') },
  { what: 'another order of words', second: subject('order An') },
  { what: 'a second later', second: { date: '2026-01-02T03:00:01.000Z' } },
  { what: 'an hour later', second: { date: '2026-01-02T04:00:00.000Z' } },
  { what: 'a month earlier', second: { date: '2025-12-02T03:00:00.000Z' } },
  { what: 'no date', second: { date: null } },
  {
    what: 'a date where none was',
    first: { date: null },
    second: { date: '2026-01-02T03:00:00.000Z' },
  },
  { what: 'another name', second: named('Bo') },
  { what: 'no name', second: named('') },
  { what: 'another person of the domain', second: from('bo@example.com') },
  { what: 'a sub-address', second: from('ana+2@example.com') },
  { what: 'another subject, not verified', second: subject('Pay me'), read: { verified: false } },
  {
    what: 'another subject, neither verified',
    second: subject('Two'),
    firstRead: { verified: false },
    read: { verified: false },
  },
  {
    what: 'another subject and a large text',
    second: { ...subject('Two'), text: 'a'.repeat(300_000) },
  },
  {
    what: 'another subject and a file',
    second: subject('Two'),
    read: { files: [fileWith('b.txt', 'two')] },
  },
  { what: 'all three', second: { ...named('Bo'), ...subject('Two'), date: null } },
  { what: 'after 29 days', second: subject('Two'), later: 29 * DAY },
];

const NEW: readonly Form[] = [
  { what: 'another id', second: { message_id: '<own-1@example.com>' } },
  { what: 'the id in capitals', second: { message_id: '<OWN-1@EXAMPLE.COM>' } },
  { what: 'no id', second: { message_id: null } },
  { what: 'no id, both times', first: { message_id: null }, second: { message_id: null } },
  { what: 'the true sender after a stranger', firstRead: { verified: false } },
  {
    what: 'the true sender after a stranger with another subject',
    first: subject('Pay me'),
    firstRead: { verified: false },
  },
  {
    what: 'another sender, not verified',
    second: from('eve@elsewhere.example'),
    read: { verified: false },
  },
  { what: 'no sender, not verified', second: { from: null }, read: { verified: false } },
  { what: 'another domain that signs', second: from('ana@elsewhere.example') },
  { what: 'after more than 30 days', later: 30 * DAY + 1 },
  {
    what: 'with another subject after more than 30 days',
    second: subject('Two'),
    later: 30 * DAY + 1,
  },
];

const all = async (query: string): Promise<Envelope[]> => {
  const path = `/v1/inbox?${query}&limit=100`;
  return (await mail.gateway.call<{ items: Envelope[] }>('GET', path)).body.items;
};

/** Brings both mails; answers how the second was taken, and what it left. */
async function take({ first = {}, second = {}, firstRead, read, later = 0 }: Form) {
  const one = mailWith(first, firstRead);
  const given = { ...first, message_id: one.payload.message_id, ...second };
  const other = mailWith(given, read);
  const known = (await arrive(mail, one)) as DeliveryAnswer;
  mail.clock.advance(later);
  const before = (await all('status=dead')).length;
  const { status, event_id: id } = (await arrive(mail, other)) as DeliveryAnswer;
  const kept = (await all('status=dead')).length - before;
  return { other, status, isFirst: id === known.event_id, kept };
}

describe('a mail with a known Message-ID', () => {
  it.each(AGAIN)('that came again is a duplicate, and leaves nothing: $what', async (form) => {
    expect(await take(form)).toMatchObject({ status: 'duplicate', isFirst: true, kept: 0 });
  });

  it.each(OTHERS)('that is another one is a duplicate, and kept once: $what', async (form) => {
    const { other, ...taken } = await take(form);
    expect(taken).toEqual({ status: 'duplicate', isFirst: true, kept: 1 });
    const before = await all('status=dead');
    const again = mailWith(other.payload, { verified: other.verified });
    expect(await arrive(mail, again)).toMatchObject({ status: 'duplicate' });
    expect(await all('status=dead')).toHaveLength(before.length);
  });

  it.each(NEW)('or none is an event of its own: $what', async (form) => {
    expect(await take(form)).toMatchObject({ status: 'accepted', isFirst: false, kept: 0 });
  });

  it('says why nobody gets it, is counted, and is whole once somebody takes it in', async () => {
    const read = { files: [fileWith('label.txt', 'to Ana')] };
    const { other } = await take({ what: '', first: parcel(1), second: parcel(2), read });
    const kept = (await all('status=dead')).at(-1);
    const path = `/v1/inbox/events/${kept?.id ?? ''}`;
    const { body } = await mail.gateway.call<{ reason: string }>('GET', path);
    expect(body.reason).toMatch(
      /^It has the Message-ID of evt_\w+, but another From, Date or Subject/,
    );
    const counted = async () => {
      const { body: use } = await mail.gateway.call<{ events: { set_aside: number } }>(
        'GET',
        '/v1/usage',
      );
      return use.events.set_aside;
    };
    const before = await counted();
    const event = { event_id: kept?.id };
    expect(await mail.call('POST', '/v1/inbox/requeue', event)).toMatchObject({ status: 200 });
    expect(await counted()).toBe(before - 1);
    const claimed = await mail.gateway.call<Envelope>('POST', '/v1/inbox/claim', { body: event });
    expect(claimed.body).toMatchObject({
      type: 'email.received',
      payload: other.payload,
      attachments: [{ name: 'label.txt', size_bytes: 6 }],
    });
  });
});
