import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { deleteCondition, kvKey } from '../disk-fields.ts';
import { deleteKey } from './write.ts';

export const kvDelete = defineOperation({
  name: 'kv_delete',
  summary: 'Delete a key.',
  description: 'Says whether the key existed. Also works on `state/{task_id}`.',
  scope: 'disk',
  disk: { field: 'key', kind: 'key' },
  input: z.strictObject({ key: kvKey, ...deleteCondition }),
  output: z.object({ deleted: z.boolean().describe('False if there was no such key.') }),
  errors: ['PRECONDITION_FAILED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/kv/{key+}', versioned: true },
  mcp: { title: 'Delete a key', destructive: true, idempotent: true, without: ['if_exists'] },
  cli: {
    usage: 'kv delete <key>',
    examples: ['kv delete last-run', 'kv delete lock --if-version 7'],
  },
  subject: (input) => input.key,
  example: { key: 'example/counter' },
}).write({
  commit: async (context, { key, ...condition }) => ({
    deleted: await deleteKey(context, key, condition),
  }),
});
