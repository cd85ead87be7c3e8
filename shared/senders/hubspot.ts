import { numericId } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation */
export const hubspot: Sender<'hubspot'> = {
  name: 'hubspot',
  title: 'HubSpot',
  words: 'crm contact deal',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'base64',
    signature: ['header:x-hubspot-signature-v3'],
    content: '{method}{url}{body}{time}',
    time: { at: 'header:x-hubspot-request-timestamp', unit: 'milliseconds', toleranceSeconds: 300 },
  },
  secretBy: 'sender',
  secretName: 'Client secret',
  // Alone, an event's id may come again; and each attempt has another body, which counts the attempts.
  id: [['body:*.eventId', 'body:*.subscriptionId', 'body:*.objectId', 'body:*.occurredAt']],
  type: ['body:*.subscriptionType'],
  steps: [
    'In your developer account, open the app, then Auth: it shows the client secret. {store}',
    'Open Webhooks. Target URL: {url}',
    'Create subscriptions and activate them.',
  ],
  sample: {
    summary: 'A contact is created.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'HubSpot Connect 2.0' },
      payload: [
        {
          eventId: numericId(),
          subscriptionId: 20418,
          portalId: 7712045,
          appId: 214,
          occurredAt: Date.now(),
          subscriptionType: 'contact.creation',
          attemptNumber: 0,
          objectId: numericId(),
          changeFlag: 'NEW',
          changeSource: 'CRM_UI',
        },
      ],
    }),
  },
};
