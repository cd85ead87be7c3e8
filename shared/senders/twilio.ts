import { createHash } from 'node:crypto';
import { isObject } from '../lib/guards.ts';
import { hex, uuid } from '../lib/samples/fresh.ts';
import { parsedUrl } from '../lib/urls.ts';
import type { Sender, SignedRequest } from './sender.ts';

/** https://www.twilio.com/docs/usage/security#validating-requests */
export const twilio: Sender<'twilio'> = {
  name: 'twilio',
  title: 'Twilio',
  words: 'sms text message call voice whatsapp',
  proof: {
    kind: 'mac',
    hash: 'sha1',
    encoding: 'base64',
    signature: ['header:x-twilio-signature'],
    content: signed,
  },
  secretBy: 'sender',
  secretName: 'Auth Token',
  id: [
    'header:i-twilio-idempotency-token',
    ['body:MessageSid', 'body:MessageStatus', 'body:SmsStatus'],
    ['body:CallSid', 'body:CallStatus'],
    // Event Streams.
    'body:*.id',
  ],
  type: [
    'body:EventType',
    'body:MessageStatus',
    'body:SmsStatus',
    'body:CallStatus',
    'body:*.type',
  ],
  // Twilio takes an answer for its instructions, and reports any other kind as an error.
  answer: { type: 'text/xml', body: '<?xml version="1.0" encoding="UTF-8"?><Response/>' },
  steps: [
    'In the Console, open Phone Numbers → Manage → Active numbers, and choose the number.',
    'Under Messaging, A message comes in: Webhook, HTTP POST, {url}',
    'Twilio signs with the Auth Token of the account, on the first page of the Console. {store}',
  ],
  sample: {
    summary: 'A text message comes in.',
    build: () => ({
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'TwilioProxy/1.1',
        'i-twilio-idempotency-token': uuid(),
      },
      payload: {
        MessageSid: `SM${hex(32)}`,
        AccountSid: `AC${hex(32)}`,
        From: '+351912345678',
        To: '+351211234567',
        Body: 'Is order 20418 on its way?',
        SmsStatus: 'received',
        NumMedia: '0',
      },
    }),
  },
};

/** The address, and each field of the form with its value, by name; for other bodies their hash in the address. */
function signed({ url, body, payload }: SignedRequest): string | null {
  const hash = parsedUrl(url)?.searchParams.get('bodySHA256');
  if (typeof hash === 'string') {
    return createHash('sha256').update(body).digest('hex') === hash.toLowerCase() ? url : null;
  }
  const form = payload();
  if (body.length === 0) return url;
  if (!isObject(form)) return null;
  const fields = Object.keys(form).toSorted((a, b) => (a < b ? -1 : 1));
  const text = (name: string): string => {
    const values = [form[name]].flat().map(String);
    return [...new Set(values)]
      .toSorted()
      .map((value) => name + value)
      .join('');
  };
  return url + fields.map(text).join('');
}
