import { numericId, unixSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://docs.sentry.io/organization/integrations/integration-platform/webhooks/ */
export const sentry: Sender<'sentry'> = {
  name: 'sentry',
  title: 'Sentry',
  words: 'error issue alert monitoring',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:sentry-hook-signature'],
    content: '{body}',
  },
  secretBy: 'sender',
  secretName: 'Client Secret',
  id: ['header:request-id'],
  type: [['header:sentry-hook-resource', 'body:action']],
  steps: [
    'Open Settings → Developer Settings → Custom Integrations, and create an internal integration.',
    'Webhook URL: {url}',
    'Choose the permissions and the webhooks, and save.',
    'Under Credentials, Sentry shows the client secret. {store}',
  ],
  sample: {
    summary: 'A new issue appears.',
    build: () => ({
      headers: {
        'content-type': 'application/json',
        'request-id': uuid().replaceAll('-', ''),
        'sentry-hook-resource': 'issue',
        'sentry-hook-timestamp': String(unixSeconds()),
      },
      payload: {
        action: 'created',
        installation: { uuid: uuid() },
        data: {
          issue: {
            id: String(numericId()),
            title: 'RangeError: Invalid time zone',
            culprit: 'src/table.ts',
            level: 'error',
            project: { slug: 'tide-tables' },
          },
        },
        actor: { type: 'application', name: 'Sentry' },
      },
    }),
  },
};
