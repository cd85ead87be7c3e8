import * as z from 'zod';
import { parseExact } from '../../lib/exact-json.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { stateKey, taskId } from './task.ts';

export const stateLoad = defineOperation({
  name: 'state_load',
  summary: "Load a task's saved state.",
  description: 'Returns null if the task was never saved.',
  scope: 'disk',
  input: z.strictObject({ task_id: taskId }),
  output: z
    .object({
      task_id: z.string(),
      state: z.unknown(),
      note: z.string().nullable(),
      saved_at: z.string(),
      version: z.int(),
    })
    .nullable(),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/state/{task_id+}', versioned: true },
  mcp: { title: 'Load the state of a task' },
  cli: { usage: 'state load <task_id>', examples: ['state load deploy-42'], emptyWhenNull: '' },
  example: { task_id: 'example-task' },
}).read(async ({ store, now }, { task_id }) => {
  const row = await store.kv.find(stateKey(task_id), now);
  if (!row) return null;
  return {
    task_id,
    state: parseExact(Buffer.from(row.value).toString('utf8')),
    note: row.note,
    saved_at: row.updated_at,
    version: row.version,
  };
});
