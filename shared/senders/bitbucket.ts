import { hex, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/ */
export const bitbucket: Sender<'bitbucket'> = {
  name: 'bitbucket',
  title: 'Bitbucket',
  words: 'git pull request atlassian',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:x-hub-signature'],
    prefix: 'sha256=',
    content: '{body}',
  },
  secretBy: 'svc',
  secretName: 'Secret',
  id: ['header:x-request-uuid'],
  type: ['header:x-event-key'],
  steps: [
    'Open Repository settings → Webhooks → Add webhook.',
    'URL: {url}',
    'Secret: {secret}',
    'Choose the triggers and save.',
  ],
  sample: {
    summary: 'Somebody pushes to a branch.',
    build: () => ({
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Bitbucket-Webhooks/2.0',
        'x-event-key': 'repo:push',
        'x-request-uuid': uuid(),
        'x-attempt-number': '1',
      },
      payload: {
        actor: { display_name: 'Mira Okafor', type: 'user' },
        repository: { full_name: 'harbor-lane/tide-tables', type: 'repository' },
        push: {
          changes: [{ new: { type: 'branch', name: 'main', target: { hash: hex(40) } } }],
        },
      },
    }),
  },
};
