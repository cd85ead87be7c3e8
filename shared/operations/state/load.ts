import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { parseExact } from '../../lib/json/exact-json.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { ReadContext } from '../../kernel/context.ts';
import { stateKey, taskId } from './task.ts';
import { goneSince } from './versions.ts';

export const stateLoad = defineOperation({
  name: 'state_load',
  summary: "Load a task's saved state.",
  description: 'Returns null if the task was never saved.',
  scope: 'disk',
  disk: { field: 'task_id', kind: 'task' },
  input: z.strictObject({
    task_id: taskId,
    version: z
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe("An earlier version (default: the newest); null if it isn't kept."),
  }),
  output: named(
    'TaskState',
    z
      .object({
        task_id: z.string().describe('The task.'),
        state: z.unknown().describe('As it was saved.'),
        note: z.string().nullable().describe('What the agent said about it.'),
        saved_at: z.string().describe('When it was saved.'),
        version: z.int().describe('Rises with each write; pass as `if_version`.'),
      })
      .describe('The saved state of a task.'),
  ).nullable(),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/state/{task_id+}', versioned: true },
  mcp: { title: 'Load the state of a task', without: ['version'] },
  cli: {
    usage: 'state load <task_id>',
    examples: ['state load deploy-42', 'state load deploy-42 --version 7'],
    emptyWhenNull: '',
  },
  example: { task_id: 'example-task' },
}).read(async (context, { task_id, version }) => {
  const row = await find(context, stateKey(task_id), version);
  if (!row) return null;
  return {
    task_id,
    state: parseExact(Buffer.from(row.value).toString('utf8')),
    note: row.note,
    saved_at: row.saved_at,
    version: row.version,
  };
});

/** The newest version of a state, or the one with this number. */
async function find({ store, now }: ReadContext, key: string, version: number | undefined) {
  const row = await store.kv.find(key, now);
  if (version === undefined || version === row?.version) {
    return row && { ...row, saved_at: row.updated_at };
  }
  return store.stateVersions.find(key, version, goneSince(now));
}
