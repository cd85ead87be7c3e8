import { isoSeconds, uuid, type WebhookKind } from './fresh.ts';
import { githubKinds } from './github.ts';
import { stripeKinds } from './stripe.ts';

const generic: WebhookKind = {
  kind: 'webhook',
  verification: null,
  summary: 'Any other sender: a small JSON document.',
  build: () => ({
    headers: { 'content-type': 'application/json', 'user-agent': 'svc-trigger' },
    payload: {
      id: uuid(),
      event: 'order.created',
      created_at: isoSeconds(),
      data: {
        order_id: '20418',
        total: 49,
        currency: 'EUR',
        customer: 'ines.ferreira@example.com',
      },
    },
  }),
};

/** The webhooks that `svc trigger` can send. */
export const webhookKinds: readonly WebhookKind[] = [...githubKinds, ...stripeKinds, generic];
