import { crc32 } from 'node:zlib';
import { hex, isoSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Sender, SignedPart } from './sender.ts';

/** https://developer.paypal.com/api/rest/webhooks/rest/ */
export const paypal: Sender<'paypal'> = {
  name: 'paypal',
  title: 'PayPal',
  words: 'payment',
  proof: {
    kind: 'public_key',
    key: {
      at: 'header:paypal-cert-url',
      hosts: ['api.paypal.com', 'api.sandbox.paypal.com'],
      path: '/v1/notifications/certs/',
    },
    signature: ['header:paypal-transmission-sig'],
    content: signed,
  },
  secretBy: 'sender',
  secretName: 'Webhook ID',
  id: ['body:id'],
  type: ['body:event_type'],
  steps: [
    'In the Developer Dashboard, open Apps & Credentials, choose the app, and add a webhook.',
    'Webhook URL: {url}',
    'Choose the events and save.',
    'The list shows the Webhook ID, which svc needs to check signatures. {store}',
  ],
  sample: {
    summary: 'A payment is captured.',
    build: () => ({
      headers: {
        'content-type': 'application/json',
        'paypal-auth-algo': 'SHA256withRSA',
        'paypal-transmission-id': uuid(),
        'paypal-transmission-time': isoSeconds(),
      },
      payload: {
        id: `WH-${hex(17).toUpperCase()}-${hex(17).toUpperCase()}`,
        event_version: '1.0',
        create_time: isoSeconds(),
        event_type: 'PAYMENT.CAPTURE.COMPLETED',
        resource_type: 'capture',
        resource: {
          id: hex(17).toUpperCase(),
          status: 'COMPLETED',
          amount: { currency_code: 'EUR', value: '49.00' },
        },
      },
    }),
  },
};

function signed({ headers, body, secret }: SignedPart): string | null {
  const id = headers['paypal-transmission-id'];
  const time = headers['paypal-transmission-time'];
  if (!id || !time || `${id}${time}`.includes('|')) return null;
  return `${id}|${time}|${secret}|${crc32(body)}`;
}
