import { hex, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://docs.gitlab.com/user/project/integrations/webhooks/ */
export const gitlab: Sender<'gitlab'> = {
  name: 'gitlab',
  title: 'GitLab',
  words: 'git merge request pipeline',
  proof: { kind: 'shared_secret', at: 'header:x-gitlab-token', form: 'plain' },
  secretBy: 'svc',
  secretName: 'Secret token',
  id: [
    'header:idempotency-key',
    // Before 17.4. It stays the same for what a webhook's receiver does in GitLab, which is another event.
    [
      'header:x-gitlab-event-uuid',
      'body:object_kind',
      'body:object_attributes.id',
      'body:object_attributes.action',
      'body:object_attributes.status',
      'body:ref',
      'body:after',
      'body:build_id',
      'body:build_status',
    ],
  ],
  type: [['body:object_kind', 'body:object_attributes.action'], 'body:event_name'],
  steps: [
    'Open Settings → Webhooks → Add new webhook, in the project or the group.',
    'URL: {url}',
    'Secret token: {secret}',
    'Choose the triggers and add the webhook.',
  ],
  sample: {
    summary: 'Somebody opens a merge request.',
    build: () => ({
      headers: {
        'content-type': 'application/json',
        'user-agent': 'GitLab/18.5.0',
        'x-gitlab-event': 'Merge Request Hook',
        'x-gitlab-event-uuid': uuid(),
        'idempotency-key': uuid(),
      },
      payload: {
        object_kind: 'merge_request',
        event_type: 'merge_request',
        user: { id: 61, name: 'Mira Okafor', username: 'mira-okafor' },
        project: { id: 7712, path_with_namespace: 'harbor-lane/tide-tables' },
        object_attributes: {
          iid: 231,
          title: 'Read the time zone from the harbour, not from the server',
          source_branch: 'harbour-time-zone',
          target_branch: 'main',
          state: 'opened',
          action: 'open',
          last_commit: { id: hex(40), message: 'Use the harbour’s zone' },
        },
      },
    }),
  },
};
