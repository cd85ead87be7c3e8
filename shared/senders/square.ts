import { hex, isoSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developer.squareup.com/docs/webhooks/step3validate */
export const square: Sender<'square'> = {
  name: 'square',
  title: 'Square',
  words: 'payment shop',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'base64',
    signature: ['header:x-square-hmacsha256-signature'],
    content: '{url}{body}',
  },
  secretBy: 'sender',
  secretName: 'Signature key',
  id: ['body:event_id'],
  type: ['body:type'],
  steps: [
    'In the Developer Console, open your application, then Webhooks → Subscriptions → Add subscription.',
    'URL: {url}',
    'Choose the events and save.',
    'Open the subscription: Square shows its signature key. {store}',
  ],
  sample: {
    summary: 'A payment is made.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'Square Connect v2' },
      payload: {
        merchant_id: hex(13).toUpperCase(),
        type: 'payment.created',
        event_id: uuid(),
        created_at: isoSeconds(),
        data: {
          type: 'payment',
          id: hex(22),
          object: {
            payment: { status: 'COMPLETED', amount_money: { amount: 4900, currency: 'EUR' } },
          },
        },
      },
    }),
  },
};
