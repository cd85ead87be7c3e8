import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { stateKey, taskId } from './task.ts';
import { goneSince } from './versions.ts';

const stateVersion = named(
  'StateVersion',
  z
    .object({
      version: z.int().describe('Which version.'),
      saved_at: z.string().describe('When it was saved.'),
      size_bytes: z.int().describe('Size of the state.'),
      note: z.string().nullable().describe('What the agent said about it.'),
      key_id: z.string().nullable().describe('The key that saved it.'),
      agent: z.string().nullable().describe('The agent that saved it, as it calls itself.'),
    })
    .describe('An earlier version of a state.'),
);

export const stateHistory = defineOperation({
  name: 'state_history',
  summary: "List the versions of a task's state.",
  description:
    'The newest is first. Earlier versions, up to 20 for a task, are kept for 30 days after they were replaced: load one with state_load and its version. Deleting the state deletes them.',
  scope: 'disk',
  disk: { field: 'task_id', kind: 'task' },
  input: z.strictObject({ task_id: taskId }),
  output: z.object({
    task_id: z.string().describe('The task.'),
    items: z.array(stateVersion).describe('Newest first.'),
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/state-history/{task_id+}' },
  mcp: false,
  cli: {
    usage: 'state history <task_id>',
    examples: ['state history deploy-42'],
    columns: ['version', 'saved_at', 'size_bytes', 'agent', 'key_id', 'note'],
    emptyWhenNull: 'items',
  },
  example: { task_id: 'example-task' },
}).read(async ({ store, now }, { task_id }) => {
  const key = stateKey(task_id);
  const newest = await store.stateVersions.newest(key);
  if (!newest) return { task_id, items: [] };
  return { task_id, items: [newest, ...(await store.stateVersions.list(key, goneSince(now)))] };
});
