import { isoSeconds, numericId, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developer.zendesk.com/documentation/webhooks/verifying/ */
export const zendesk: Sender<'zendesk'> = {
  name: 'zendesk',
  title: 'Zendesk',
  words: 'support ticket',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'base64',
    signature: ['header:x-zendesk-webhook-signature'],
    content: '{time}{body}',
    time: {
      at: 'header:x-zendesk-webhook-signature-timestamp',
      unit: 'iso',
      toleranceSeconds: 300,
    },
  },
  secretBy: 'sender',
  secretName: 'Signing secret',
  id: ['header:x-zendesk-webhook-invocation-id', 'body:id'],
  type: ['body:type'],
  steps: [
    'In the Admin Center, open Apps and integrations → Webhooks → Create webhook.',
    'Endpoint URL: {url}. Request method: POST. Request format: JSON.',
    'Create it, then open it: Zendesk shows the signing secret. {store}',
  ],
  sample: {
    summary: 'A ticket is created.',
    build: () => ({
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Zendesk Webhook',
        'x-zendesk-account-id': '7712045',
        'x-zendesk-webhook-id': '01J9Z3K4M5N6P7Q8R9S0T1V2W3',
        'x-zendesk-webhook-invocation-id': String(numericId()),
      },
      payload: {
        id: uuid(),
        type: 'zen:event-type:ticket.created',
        subject: 'zen:ticket:20418',
        time: isoSeconds(),
        zendesk_event_version: '2022-11-06',
        detail: { id: '20418', subject: 'Where is my order?', status: 'NEW', priority: null },
        event: {},
      },
    }),
  },
};
