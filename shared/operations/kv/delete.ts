import * as z from 'zod';
import { defineOperation } from '../../operation.ts';
import { kvKey } from '../disk-fields.ts';
import { deleteKey } from './write.ts';

export const kvDelete = defineOperation({
  name: 'kv_delete',
  summary: 'Delete a key.',
  description: 'Answers whether it was there. Works on `state/{task_id}`, too.',
  scope: 'disk',
  input: z.strictObject({ key: kvKey }),
  output: z.object({ deleted: z.boolean() }),
  errors: [],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/kv/{key+}' },
  mcp: { title: 'Delete a key', destructive: true, idempotent: true },
  cli: { usage: 'kv delete <key>', examples: ['kv delete last-run'] },
  subject: (input) => input.key,
  example: { key: 'example/counter' },
}).write({
  commit: async (context, { key }) => ({ deleted: await deleteKey(context, key) }),
});
