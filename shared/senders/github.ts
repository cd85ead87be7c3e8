import type { Sender } from './sender.ts';

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries. Its other header, with SHA-1, doesn't count. */
export const github: Sender<'github'> = {
  name: 'github',
  title: 'GitHub',
  words: 'git pull request issue',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:x-hub-signature-256'],
    prefix: 'sha256=',
    content: '{body}',
  },
  secretBy: 'svc',
  secretName: 'Secret',
  id: ['header:x-github-delivery'],
  type: [['header:x-github-event', 'body:action']],
  steps: [
    'Open Settings → Webhooks → Add webhook, in the repository or the organization.',
    'Payload URL: {url}',
    'Content type: application/json',
    'Secret: {secret}',
    'Choose the events and add the webhook. GitHub sends a ping, which arrives as an event.',
  ],
  sample: null,
};
