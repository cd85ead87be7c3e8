import { isoSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://linear.app/developers/webhooks */
export const linear: Sender<'linear'> = {
  name: 'linear',
  title: 'Linear',
  words: 'issue tracker',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:linear-signature'],
    content: '{body}',
    time: { at: 'body:webhookTimestamp', unit: 'milliseconds', toleranceSeconds: 60 },
  },
  secretBy: 'sender',
  secretName: 'Signing secret',
  id: ['header:linear-delivery'],
  type: [['body:type', 'body:action']],
  steps: [
    'Open Settings → API → Webhooks → New webhook.',
    'URL: {url}',
    'Choose the data change events and create the webhook.',
    'Open it again: Linear shows its signing secret. {store}',
  ],
  sample: {
    summary: 'Somebody creates an issue.',
    build: () => ({
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Linear-Webhook',
        'linear-delivery': uuid(),
        'linear-event': 'Issue',
      },
      payload: {
        action: 'create',
        type: 'Issue',
        createdAt: isoSeconds(),
        organizationId: uuid(),
        webhookTimestamp: Date.now(),
        webhookId: uuid(),
        data: {
          id: uuid(),
          identifier: 'TIDE-214',
          title: 'Low tide is an hour late after the clock change',
          priority: 2,
          state: { name: 'Todo', type: 'unstarted' },
        },
      },
    }),
  },
};
