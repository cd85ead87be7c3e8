import { isoSeconds, numericId } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developers.asana.com/docs/webhooks-guide */
export const asana: Sender<'asana'> = {
  name: 'asana',
  title: 'Asana',
  words: 'task project',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:x-hook-signature'],
    content: '{body}',
  },
  secretBy: 'handshake',
  secretName: 'X-Hook-Secret',
  id: [],
  type: [['body:events.*.resource.resource_type', 'body:events.*.action']],
  handshake: {
    method: 'POST',
    challenge: 'header:x-hook-secret',
    answer: 'header:x-hook-secret',
    isSecret: true,
  },
  steps: [
    'Create a webhook over the API: POST https://app.asana.com/api/1.0/webhooks',
    'resource: the id of a project or a task. target: {url}',
    'Asana tells svc the secret of this webhook before it saves it. Another webhook needs another source.',
  ],
  sample: {
    summary: 'A task is added to a project.',
    build: () => ({
      headers: { 'content-type': 'application/json; charset=UTF-8' },
      payload: {
        events: [
          {
            user: { gid: String(numericId()), resource_type: 'user' },
            created_at: isoSeconds(),
            action: 'added',
            resource: { gid: String(numericId()), resource_type: 'task' },
            parent: { gid: String(numericId()), resource_type: 'project' },
          },
        ],
      },
    }),
  },
};
