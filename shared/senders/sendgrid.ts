import { hex, unixSeconds } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features */
export const sendgrid: Sender<'sendgrid'> = {
  name: 'sendgrid',
  title: 'SendGrid',
  words: 'mail email delivery bounce twilio',
  proof: {
    kind: 'public_key',
    key: 'secret',
    signature: ['header:x-twilio-email-event-webhook-signature'],
    content: '{header:x-twilio-email-event-webhook-timestamp}{body}',
  },
  secretBy: 'sender',
  secretName: 'Verification Key',
  id: ['body:*.sg_event_id'],
  type: ['body:*.event'],
  steps: [
    'Open Settings → Mail Settings → Event Webhooks → Create new webhook.',
    'Post URL: {url}',
    'Choose the actions, turn on Signed Event Webhook, and save.',
    'SendGrid shows its verification key, which is public. {store}',
  ],
  sample: {
    summary: 'A mail was delivered.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'SendGrid Event API' },
      payload: [
        {
          email: 'ines.ferreira@example.com',
          timestamp: unixSeconds(),
          event: 'delivered',
          sg_event_id: hex(22),
          sg_message_id: `${hex(20)}.recvd-1`,
          response: '250 OK',
        },
      ],
    }),
  },
};
