import { hex, unixSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developers.intercom.com/docs/webhooks/setting-up-webhooks */
export const intercom: Sender<'intercom'> = {
  name: 'intercom',
  title: 'Intercom',
  words: 'support chat conversation',
  proof: {
    kind: 'mac',
    hash: 'sha1',
    encoding: 'hex',
    signature: ['header:x-hub-signature'],
    prefix: 'sha1=',
    content: '{body}',
  },
  secretBy: 'sender',
  secretName: 'Client secret',
  id: ['body:id'],
  type: ['body:topic'],
  steps: [
    'In the Developer Hub, open your app, then Basic information: it shows the client secret. {store}',
    'Open Webhooks. Endpoint URL: {url}',
    'Choose the topics and save.',
  ],
  sample: {
    summary: 'A person starts a conversation.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'intercom-webhooks/1.0' },
      payload: {
        type: 'notification_event',
        id: `notif_${uuid()}`,
        app_id: hex(8),
        topic: 'conversation.user.created',
        created_at: unixSeconds(),
        delivery_attempts: 1,
        data: {
          type: 'notification_event_data',
          item: { type: 'conversation', id: '20418', source: { body: 'Where is my order?' } },
        },
      },
    }),
  },
};
