import { isoSeconds, numericId, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://postmarkapp.com/developer/webhooks/webhooks-overview */
export const postmark: Sender<'postmark'> = {
  name: 'postmark',
  title: 'Postmark',
  words: 'mail email delivery bounce inbound',
  proof: { kind: 'shared_secret', at: 'header:authorization', form: 'basic' },
  secretBy: 'svc',
  secretName: 'Basic auth password',
  id: [
    ['body:ID', 'body:RecordType'],
    [
      'body:MessageID',
      'body:RecordType',
      'body:Recipient',
      'body:ReceivedAt',
      'body:DeliveredAt',
      'body:ChangedAt',
    ],
  ],
  // A mail that comes in has no record type, only its stream: `inbound`.
  type: ['body:RecordType', 'body:MessageStream'],
  steps: [
    'Open the server’s message stream, then Webhooks → Add webhook.',
    'Webhook URL: {url}',
    'Basic auth credentials: any username, and as password {secret}',
    'Choose the events and save the webhook.',
  ],
  sample: {
    summary: 'A mail bounced.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'Postmark' },
      payload: {
        RecordType: 'Bounce',
        ID: numericId(),
        Type: 'HardBounce',
        MessageID: uuid(),
        Email: 'ines.ferreira@example.com',
        From: 'orders@example.com',
        BouncedAt: isoSeconds(),
        Subject: 'Your order 20418',
      },
    }),
  },
};
