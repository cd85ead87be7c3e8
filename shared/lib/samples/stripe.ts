import { stripeId, unixSeconds, uuid, type Sample, type WebhookKind } from './fresh.ts';
import {
  charge,
  checkoutSession,
  customer,
  dispute,
  invoice,
  paymentIntent,
  subscription,
} from './stripe-parts.ts';

const API_VERSION = '2026-10-28.endive';

interface Change {
  readonly object: Record<string, unknown>;
  readonly previous?: Record<string, unknown>;
}

function kind(type: string, summary: string, change: () => Change): WebhookKind<'stripe'> {
  const build = (): Sample => {
    const { object, previous } = change();
    return {
      headers: {
        accept: '*/*; q=0.5, application/xml',
        'cache-control': 'no-cache',
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      },
      payload: {
        id: stripeId('evt'),
        object: 'event',
        api_version: API_VERSION,
        created: unixSeconds(),
        data: { object, ...(previous && { previous_attributes: previous }) },
        livemode: false,
        pending_webhooks: 1,
        request: { id: stripeId('req'), idempotency_key: uuid() },
        type,
      },
    };
  };
  return { kind: `stripe.${type}`, verification: 'stripe', summary, build };
}

/** Events like those Stripe sends to a webhook endpoint in test mode. */
export const stripeKinds: readonly WebhookKind<'stripe'>[] = [
  kind('checkout.session.completed', 'A customer pays at the checkout.', () => ({
    object: checkoutSession(),
  })),
  kind('payment_intent.succeeded', 'A payment succeeds.', () => ({
    object: paymentIntent('succeeded'),
  })),
  kind('payment_intent.payment_failed', 'A card is declined.', () => ({
    object: paymentIntent('requires_payment_method'),
  })),
  kind('invoice.paid', 'An invoice is paid.', () => ({ object: invoice('paid') })),
  kind('invoice.payment_failed', 'An invoice could not be charged.', () => ({
    object: invoice('open'),
  })),
  kind('customer.created', 'A customer is added.', () => ({ object: customer() })),
  kind('customer.subscription.created', 'A subscription begins.', () => ({
    object: subscription('active'),
  })),
  kind('customer.subscription.updated', 'A subscription is to end with its period.', () => ({
    object: { ...subscription('active'), cancel_at_period_end: true },
    previous: { cancel_at_period_end: false },
  })),
  kind('customer.subscription.deleted', 'A subscription has ended.', () => ({
    object: subscription('canceled'),
  })),
  kind('charge.refunded', 'A charge is refunded.', () => ({
    object: charge({ refunded: true }),
    previous: { amount_refunded: 0, refunded: false },
  })),
  kind('charge.dispute.created', 'A customer disputes a charge.', () => ({ object: dispute() })),
];
