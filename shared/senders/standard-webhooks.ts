import type { Sender } from './sender.ts';

/** https://github.com/standard-webhooks/standard-webhooks: all three headers from one family, `webhook-*` or Svix's. */
export const standardWebhooks: Sender<'standard_webhooks'> = {
  name: 'standard_webhooks',
  title: 'Standard Webhooks',
  words: 'svix openai clerk resend',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'base64',
    key: 'base64',
    signature: ['header:webhook-signature'],
    split: ' ',
    prefix: 'v1,',
    content: '{header:webhook-id}.{time}.{body}',
    time: { at: 'header:webhook-timestamp', unit: 'seconds', toleranceSeconds: 300 },
  },
  alias: ['svix-', 'webhook-'],
  secretBy: 'sender',
  secretName: 'Signing secret, whsec_…',
  id: ['header:webhook-id'],
  // The specification recommends it; a sender without one sends a `webhook.received`.
  type: ['body:type'],
  steps: [
    'In its webhook settings, add an endpoint with this URL: {url}',
    'The sender shows a signing secret, whsec_…. {store}',
  ],
  sample: null,
};
