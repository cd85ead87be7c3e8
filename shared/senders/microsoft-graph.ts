import { hex, isoSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks */
export const microsoftGraph: Sender<'microsoft_graph'> = {
  name: 'microsoft_graph',
  title: 'Microsoft Graph',
  words: 'office outlook teams sharepoint onedrive 365 azure',
  proof: { kind: 'shared_secret', each: 'value.*', at: 'body:clientState', form: 'plain' },
  secretBy: 'svc',
  secretName: 'clientState',
  id: ['body:value.*.id'],
  type: ['body:value.*.lifecycleEvent', 'body:value.*.changeType'],
  handshake: { method: 'POST', challenge: 'query:validationToken', answer: 'text' },
  steps: [
    'Create a subscription: POST https://graph.microsoft.com/v1.0/subscriptions',
    'notificationUrl: {url}',
    'clientState: {secret}',
    'Graph asks the address for an answer before it saves the subscription; svc gives it.',
  ],
  sample: {
    summary: 'A mail arrives in a mailbox.',
    build: () => ({
      headers: { 'content-type': 'application/json; charset=utf-8' },
      payload: {
        value: [
          {
            id: uuid(),
            subscriptionId: uuid(),
            subscriptionExpirationDateTime: isoSeconds(-86_400),
            clientState: '',
            changeType: 'created',
            tenantId: uuid(),
            resource: `Users/${uuid()}/Messages/${hex(32)}`,
            resourceData: { '@odata.type': '#Microsoft.Graph.Message', id: hex(32) },
          },
        ],
      },
    }),
  },
};
