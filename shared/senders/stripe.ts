import type { Sender } from './sender.ts';

/** https://docs.stripe.com/webhooks#verify-manually. The secret is used as given, with its `whsec_`. */
export const stripe: Sender<'stripe'> = {
  name: 'stripe',
  title: 'Stripe',
  words: 'payment invoice subscription',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:stripe-signature'],
    split: ',',
    prefix: 'v1=',
    content: '{time}.{body}',
    time: { at: 'item:t=', unit: 'seconds', toleranceSeconds: 300 },
  },
  secretBy: 'sender',
  secretName: 'Signing secret, whsec_…',
  id: ['body:id'],
  type: ['body:type'],
  steps: [
    'In the Dashboard, open Developers → Webhooks and add an endpoint.',
    'Endpoint URL: {url}',
    'Choose the events and create the endpoint.',
    'Stripe shows its signing secret, whsec_…. {store}',
  ],
  sample: null,
};
