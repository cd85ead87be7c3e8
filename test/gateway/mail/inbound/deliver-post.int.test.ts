import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../approvals/people.ts';
import { DOMAIN, TestSending } from '../outbound/sending.ts';
import { sentMessage } from './arrivals.ts';

let mail: TestSending;
let url: string;
beforeEach(async () => {
  mail = await TestSending.start({ source: false });
  await mail.allowAll();
  url = await mail.gateway.addSource({ type: 'email', name: 'mail' });
});
afterEach(() => mail.stop());

const lines = (...given: string[]): string => given.join('\r\n');

const post = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  mail.gateway.deliver(url, raw, { 'content-type': 'message/rfc822', ...headers });

const plain = (id: string, text = 'Two of them.') =>
  lines(
    'From: Ana <ana@example.com>',
    `To: ${mail.address}`,
    'Subject: An order',
    `Message-ID: <${id}@example.com>`,
    '',
    text,
  );

describe('a mail that is posted', () => {
  it('is an event, once, and not verified without a signature', async () => {
    const first = await post(plain('a'));
    expect(first).toMatchObject({
      status: 200,
      body: { status: 'accepted', event_id: expect.stringMatching(/^evt_/) },
    });
    const { event_id: eventId } = first.body;
    expect(await post(plain('a'))).toMatchObject({
      status: 200,
      body: { status: 'duplicate', event_id: eventId },
    });
    expect(await mail.events('email.received')).toMatchObject([
      {
        id: eventId,
        source: 'mail',
        channel: 'email',
        verified: false,
        payload: {
          message_id: '<a@example.com>',
          from: { address: 'ana@example.com', name: 'Ana' },
          subject: 'An order',
        },
      },
    ]);
  });

  it('answers the message whose address it came to', async () => {
    const { messageId, address } = await sentMessage(mail);
    const reply = lines(
      'From: ana@example.com',
      `To: ${address}`,
      'Subject: Re: Hello',
      'Message-ID: <reply@example.com>',
      '',
      'Yes.',
    );
    await post(reply);
    expect(await mail.events('email.received')).toMatchObject([{ reply_to: messageId }]);
  });

  it('that reports a bounce is no event of its own', async () => {
    const { messageId } = await sentMessage(mail);
    const bounce = lines(
      'From: MAILER-DAEMON@example.com',
      `To: ${mail.address}`,
      'Subject: Undelivered',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'It did not arrive.',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; example.com',
      '',
      'Final-Recipient: rfc822; ana@example.com',
      'Action: failed',
      'Status: 5.1.1',
      'Diagnostic-Code: smtp; 550 5.1.1 No such user',
      '',
      '--b',
      'Content-Type: message/rfc822',
      '',
      `Message-ID: <${messageId}@${DOMAIN}>`,
      'Subject: Hello',
      '',
      'Hi.',
      '--b--',
      '',
    );
    expect(await post(bounce)).toMatchObject({
      status: 200,
      body: { status: 'accepted', event_id: null },
    });
    expect(await mail.events('email.*')).toMatchObject([
      { type: 'email.bounced', payload: { message_id: messageId, bounce_type: 'hard' } },
    ]);
  });

  it('has what its attachments hold', async () => {
    const raw = lines(
      'From: ana@example.com',
      `To: ${mail.address}`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'See the file.',
      '--b',
      'Content-Type: text/csv; name=order.csv',
      'Content-Disposition: attachment; filename=order.csv',
      '',
      'a,b',
      '--b--',
      '',
    );
    const { body } = await post(raw);
    const path = encodeURIComponent(`${String(body['event_id'])}/order.csv`);
    const file = await mail.call('GET', `/v1/files/${path}`);
    const content = Buffer.from(String(file.body['content_base64']), 'base64').toString();
    expect(content.trim()).toBe('a,b');
  });

  it('is refused when it is nothing, too large or compressed, or its source is gone', async () => {
    expect(await post('')).toMatchObject(refused(400, 'VALIDATION_FAILED'));
    const large = Buffer.alloc(25 * 1024 * 1024 + 1, 'a');
    expect(await post(large)).toMatchObject(refused(413, 'PAYLOAD_TOO_LARGE'));
    expect(await post(plain('b'), { 'content-encoding': 'gzip' })).toMatchObject(
      refused(415, 'UNSUPPORTED_MEDIA_TYPE'),
    );
    await mail.call('DELETE', '/v1/sources/mail');
    expect(await post(plain('c'))).toMatchObject(refused(404, 'NOT_FOUND'));
    expect(await mail.events('email.*')).toEqual([]);
  });

  it('may be as large as mails are', async () => {
    const large = plain('d', `${'a'.repeat(76)}\r\n`.repeat(250_000));
    expect(await post(large)).toMatchObject({ status: 200, body: { status: 'accepted' } });
  });
});
