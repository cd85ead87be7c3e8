import { isoSeconds, numericId, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://shopify.dev/docs/apps/build/webhooks/subscribe/https */
export const shopify: Sender<'shopify'> = {
  name: 'shopify',
  title: 'Shopify',
  words: 'shop order commerce',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'base64',
    signature: ['header:x-shopify-hmac-sha256'],
    content: '{body}',
  },
  secretBy: 'sender',
  secretName: 'Client secret, or the key below the list of webhooks',
  id: ['header:x-shopify-webhook-id', 'header:x-shopify-event-id'],
  type: ['header:x-shopify-topic'],
  steps: [
    'In the admin, open Settings → Notifications → Webhooks → Create webhook.',
    'Choose an event and the format JSON. URL: {url}',
    'Below the list, Shopify shows the key that it signs with; for an app it is the client secret. {store}',
  ],
  sample: {
    summary: 'A customer places an order.',
    build: () => ({
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Shopify-Captain-Hook',
        'x-shopify-topic': 'orders/create',
        'x-shopify-shop-domain': 'harbor-lane.myshopify.com',
        'x-shopify-webhook-id': uuid(),
        'x-shopify-event-id': uuid(),
      },
      payload: {
        id: numericId(),
        name: '#20418',
        created_at: isoSeconds(),
        currency: 'EUR',
        total_price: '49.00',
        email: 'ines.ferreira@example.com',
        line_items: [{ id: numericId(), title: 'Tide table 2026', quantity: 2, price: '24.50' }],
      },
    }),
  },
};
