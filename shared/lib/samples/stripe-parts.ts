import { hex, numericId, stripeId, unixSeconds } from './fresh.ts';

const AMOUNT = 4900;
const CURRENCY = 'eur';
const MONTH_SECONDS = 30 * 86_400;
const EMAIL = 'ines.ferreira@example.com';
const NAME = 'Ines Ferreira';

function address(): Record<string, unknown> {
  return {
    city: 'Porto',
    country: 'PT',
    line1: 'Rua das Flores 12',
    line2: null,
    postal_code: '4050-262',
    state: null,
  };
}

export function customer(): Record<string, unknown> {
  return {
    id: stripeId('cus').slice(0, 18),
    object: 'customer',
    address: address(),
    balance: 0,
    created: unixSeconds(),
    currency: CURRENCY,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: EMAIL,
    invoice_prefix: hex(8).toUpperCase(),
    livemode: false,
    metadata: {},
    name: NAME,
    phone: null,
    preferred_locales: ['pt'],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  };
}

export function paymentIntent(
  status: 'succeeded' | 'requires_payment_method',
): Record<string, unknown> {
  const paid = status === 'succeeded';
  const id = stripeId('pi');
  return {
    id,
    object: 'payment_intent',
    amount: AMOUNT,
    amount_capturable: 0,
    amount_received: paid ? AMOUNT : 0,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_secret_${hex(24)}`,
    confirmation_method: 'automatic',
    created: unixSeconds(20),
    currency: CURRENCY,
    customer: stripeId('cus').slice(0, 18),
    description: 'Order 20418',
    last_payment_error: paid ? null : cardDeclined(),
    latest_charge: stripeId('ch'),
    livemode: false,
    metadata: { order_id: '20418' },
    next_action: null,
    payment_method: paid ? stripeId('pm') : null,
    payment_method_types: ['card'],
    receipt_email: EMAIL,
    setup_future_usage: null,
    shipping: null,
    statement_descriptor: null,
    status,
  };
}

function cardDeclined(): Record<string, unknown> {
  return {
    code: 'card_declined',
    decline_code: 'insufficient_funds',
    doc_url: 'https://stripe.com/docs/error-codes/card-declined',
    message: 'Your card has insufficient funds.',
    type: 'card_error',
  };
}

export function checkoutSession(): Record<string, unknown> {
  return {
    id: `cs_test_${hex(48)}`,
    object: 'checkout.session',
    amount_subtotal: AMOUNT,
    amount_total: AMOUNT,
    cancel_url: 'https://shop.example.com/cart',
    client_reference_id: '20418',
    created: unixSeconds(95),
    currency: CURRENCY,
    customer: stripeId('cus').slice(0, 18),
    customer_details: {
      address: address(),
      email: EMAIL,
      name: NAME,
      phone: null,
      tax_exempt: 'none',
      tax_ids: [],
    },
    customer_email: null,
    expires_at: unixSeconds() + 86_400,
    invoice: null,
    livemode: false,
    locale: 'auto',
    metadata: { order_id: '20418' },
    mode: 'payment',
    payment_intent: stripeId('pi'),
    payment_method_types: ['card'],
    payment_status: 'paid',
    status: 'complete',
    subscription: null,
    success_url: 'https://shop.example.com/thanks',
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted',
    url: null,
  };
}

export function invoice(status: 'paid' | 'open'): Record<string, unknown> {
  const paid = status === 'paid';
  const number = `${hex(8).toUpperCase()}-0007`;
  return {
    id: stripeId('in'),
    object: 'invoice',
    account_country: 'IE',
    account_name: 'Harbour Lane Ltd',
    amount_due: AMOUNT,
    amount_paid: paid ? AMOUNT : 0,
    amount_remaining: paid ? 0 : AMOUNT,
    attempt_count: 1,
    attempted: true,
    auto_advance: !paid,
    billing_reason: 'subscription_cycle',
    collection_method: 'charge_automatically',
    created: unixSeconds(3700),
    currency: CURRENCY,
    customer: stripeId('cus').slice(0, 18),
    customer_email: EMAIL,
    customer_name: NAME,
    description: null,
    due_date: null,
    hosted_invoice_url: `https://invoice.stripe.com/i/acct_test/${hex(40)}`,
    invoice_pdf: `https://pay.stripe.com/invoice/acct_test/${hex(40)}/pdf`,
    lines: { object: 'list', data: [invoiceLine()], has_more: false, total_count: 1 },
    livemode: false,
    metadata: {},
    next_payment_attempt: paid ? null : unixSeconds() + 3 * 86_400,
    number,
    period_end: unixSeconds(),
    period_start: unixSeconds(MONTH_SECONDS),
    status,
    status_transitions: {
      finalized_at: unixSeconds(100),
      marked_uncollectible_at: null,
      paid_at: paid ? unixSeconds(90) : null,
      voided_at: null,
    },
    subtotal: AMOUNT,
    total: AMOUNT,
  };
}

function invoiceLine(): Record<string, unknown> {
  return {
    id: stripeId('il'),
    object: 'line_item',
    amount: AMOUNT,
    currency: CURRENCY,
    description: '1 × Harbour plan (at €49.00 / month)',
    livemode: false,
    metadata: {},
    period: { end: unixSeconds() + MONTH_SECONDS, start: unixSeconds() },
    quantity: 1,
  };
}

export function subscription(status: 'active' | 'canceled'): Record<string, unknown> {
  const id = stripeId('sub');
  const ended = status === 'canceled' ? unixSeconds() : null;
  return {
    id,
    object: 'subscription',
    billing_cycle_anchor: unixSeconds(2 * MONTH_SECONDS),
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: ended,
    cancellation_details: {
      comment: null,
      feedback: null,
      reason: ended === null ? null : 'cancellation_requested',
    },
    collection_method: 'charge_automatically',
    created: unixSeconds(2 * MONTH_SECONDS),
    currency: CURRENCY,
    customer: stripeId('cus').slice(0, 18),
    default_payment_method: stripeId('pm'),
    description: null,
    ended_at: ended,
    items: { object: 'list', data: [subscriptionItem(id)], has_more: false, total_count: 1 },
    latest_invoice: stripeId('in'),
    livemode: false,
    metadata: {},
    start_date: unixSeconds(2 * MONTH_SECONDS),
    status,
    trial_end: null,
    trial_start: null,
  };
}

function subscriptionItem(subscriptionId: string): Record<string, unknown> {
  return {
    id: stripeId('si').slice(0, 17),
    object: 'subscription_item',
    created: unixSeconds(2 * MONTH_SECONDS),
    current_period_end: unixSeconds() + MONTH_SECONDS,
    current_period_start: unixSeconds(),
    metadata: {},
    price: {
      id: stripeId('price'),
      object: 'price',
      active: true,
      billing_scheme: 'per_unit',
      currency: CURRENCY,
      livemode: false,
      lookup_key: 'harbour_monthly',
      metadata: {},
      nickname: null,
      product: stripeId('prod').slice(0, 19),
      recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
      type: 'recurring',
      unit_amount: AMOUNT,
      unit_amount_decimal: String(AMOUNT),
    },
    quantity: 1,
    subscription: subscriptionId,
  };
}

export function charge({ refunded }: { readonly refunded: boolean }): Record<string, unknown> {
  return {
    id: stripeId('ch'),
    object: 'charge',
    amount: AMOUNT,
    amount_captured: AMOUNT,
    amount_refunded: refunded ? AMOUNT : 0,
    balance_transaction: stripeId('txn'),
    billing_details: { address: address(), email: EMAIL, name: NAME, phone: null },
    captured: true,
    created: unixSeconds(86_400),
    currency: CURRENCY,
    customer: stripeId('cus').slice(0, 18),
    description: 'Order 20418',
    disputed: false,
    failure_code: null,
    failure_message: null,
    livemode: false,
    metadata: { order_id: '20418' },
    outcome: {
      network_status: 'approved_by_network',
      reason: null,
      risk_level: 'normal',
      risk_score: 12,
      seller_message: 'Payment complete.',
      type: 'authorized',
    },
    paid: true,
    payment_intent: stripeId('pi'),
    payment_method: stripeId('pm'),
    receipt_email: EMAIL,
    receipt_number: String(numericId()),
    refunded,
    status: 'succeeded',
  };
}

export function dispute(): Record<string, unknown> {
  return {
    id: stripeId('du'),
    object: 'dispute',
    amount: AMOUNT,
    balance_transactions: [],
    charge: stripeId('ch'),
    created: unixSeconds(),
    currency: CURRENCY,
    evidence_details: {
      due_by: unixSeconds() + 9 * 86_400,
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    is_charge_refundable: false,
    livemode: false,
    metadata: {},
    payment_intent: stripeId('pi'),
    reason: 'product_not_received',
    status: 'needs_response',
  };
}
