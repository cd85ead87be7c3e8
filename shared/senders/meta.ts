import { numericId, unixSeconds } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developers.facebook.com/docs/graph-api/webhooks/getting-started */
export const meta: Sender<'meta'> = {
  name: 'meta',
  title: 'Meta',
  words: 'facebook instagram whatsapp messenger',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:x-hub-signature-256'],
    prefix: 'sha256=',
    content: '{body}',
  },
  secretBy: 'sender',
  secretName: 'App secret',
  id: [],
  type: [['body:object', 'body:entry.*.changes.*.field']],
  // Any verify token will do: whoever subscribes this address can't sign without the app's secret.
  handshake: { method: 'GET', challenge: 'query:hub.challenge', answer: 'text' },
  steps: [
    'At developers.facebook.com, open your app, then App settings → Basic: it shows the app secret. {store}',
    'Add the product Webhooks, or open Configuration in the product WhatsApp or Messenger.',
    'Callback URL: {url}. Verify token: any text.',
    'Press Verify and save, then subscribe to the fields.',
  ],
  sample: {
    summary: 'A WhatsApp message comes in.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'facebookexternalua' },
      payload: {
        object: 'whatsapp_business_account',
        entry: [
          {
            id: String(numericId()),
            changes: [
              {
                field: 'messages',
                value: {
                  messaging_product: 'whatsapp',
                  messages: [
                    {
                      id: `wamid.${numericId()}`,
                      from: '351912345678',
                      timestamp: String(unixSeconds()),
                      type: 'text',
                      text: { body: 'Is order 20418 on its way?' },
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    }),
  },
};
