import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { sourceName } from '../fields.ts';
import { sourceNamed } from './named.ts';

export const sourceRemove = defineOperation({
  name: 'source_remove',
  summary: 'Remove a source; its URL stops at once.',
  description:
    'Received events stay in the inbox. You can reuse the name; the new source gets another URL.',
  scope: 'admin',
  input: z.strictObject({ name: sourceName }),
  output: z.object({
    name: z.string().describe('The source.'),
    removed_at: z.string().describe('When it stopped accepting webhooks.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/sources/{name}' },
  mcp: { title: 'Remove a source', destructive: true },
  cli: { usage: 'source remove <name>', examples: ['source remove github'] },
  subject: (input) => input.name,
  example: { name: 'github' },
}).write({
  commit: async ({ store, now, emit }, { name }) => {
    const source = await sourceNamed(store, name);
    const removedAt = isoTime(now);
    await store.sources.remove(source.id, removedAt);
    emit({ kind: 'sources_changed' });
    return { name, removed_at: removedAt };
  },
});
