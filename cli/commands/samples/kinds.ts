import { isoSeconds, uuid, type SampleKind } from './fresh.ts';
import { githubKinds } from './github.ts';
import { stripeKinds } from './stripe.ts';

const generic: SampleKind = {
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

/** Everything that `svc trigger` can send. */
export const sampleKinds: readonly SampleKind[] = [...githubKinds, ...stripeKinds, generic];
