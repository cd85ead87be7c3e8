import { hex, isoSeconds } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developer.pagerduty.com/docs/verifying-webhook-signatures */
export const pagerduty: Sender<'pagerduty'> = {
  name: 'pagerduty',
  title: 'PagerDuty',
  words: 'incident alert on-call',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:x-pagerduty-signature'],
    split: ',',
    prefix: 'v1=',
    content: '{body}',
  },
  secretBy: 'sender',
  secretName: 'Secret',
  id: ['body:event.id'],
  type: ['body:event.event_type'],
  steps: [
    'Open Integrations → Generic Webhooks (v3) → New webhook.',
    'Webhook URL: {url}',
    'Choose the scope and the events, and add the webhook.',
    'PagerDuty shows its secret once. {store}',
  ],
  sample: {
    summary: 'An incident is triggered.',
    build: () => ({
      headers: {
        'content-type': 'application/json',
        'user-agent': 'PagerDuty-Webhook/V3.0',
        'x-webhook-id': hex(26),
      },
      payload: {
        event: {
          id: hex(26).toUpperCase(),
          event_type: 'incident.triggered',
          resource_type: 'incident',
          occurred_at: isoSeconds(),
          data: {
            id: hex(14).toUpperCase(),
            type: 'incident',
            number: 214,
            title: 'The tide service answers too slowly',
            urgency: 'high',
            status: 'triggered',
          },
        },
      },
    }),
  },
};
