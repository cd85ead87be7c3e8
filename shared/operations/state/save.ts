import * as z from 'zod';
import { KV_BODY_MAX_BYTES, STATE_NOTE_MAX_CHARS } from '../../lib/limits.ts';
import { WITHOUT_NUL } from '../../lib/text.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { jsonText, writeCondition } from '../disk-fields.ts';
import { asTextWarnings, warningsAsText } from '../json-as-text.ts';
import { writeKey } from '../kv/write.ts';
import { stateKey, taskId } from './task.ts';

export const stateSave = defineOperation({
  name: 'state_save',
  summary: "Save a task's state.",
  description:
    "Call it before you stop or wait for a person; load it in a later run with state_load. Replaces the task's earlier state and never expires.",
  scope: 'disk',
  disk: { field: 'task_id', kind: 'task' },
  input: z.strictObject({
    task_id: taskId,
    state: jsonText,
    note: z
      .string()
      .max(STATE_NOTE_MAX_CHARS)
      .refine((text) => text.isWellFormed(), "The text isn't valid Unicode.")
      .regex(WITHOUT_NUL, 'NUL is not allowed.')
      .optional()
      .describe('A note for the next reader.'),
    ...writeCondition,
  }),
  output: z.object({
    task_id: z.string().describe('The task.'),
    key: z.string().describe('Where kv_get finds it: `state/<task_id>`.'),
    saved_at: z.string().describe('When it was saved.'),
    version: z.int().describe('Rises with each write; pass as `if_version`.'),
    warnings: asTextWarnings,
  }),
  errors: ['QUOTA_EXCEEDED', 'PRECONDITION_FAILED', 'PAYLOAD_TOO_LARGE'],
  effect: 'write',
  exact: ['state'],
  replica: 'upstream',
  rest: {
    method: 'PUT',
    path: '/v1/state/{task_id+}',
    bodyMaxBytes: KV_BODY_MAX_BYTES,
    versioned: true,
  },
  mcp: {
    title: 'Save the state of a task',
    destructive: true,
    idempotent: true,
    without: ['if_exists'],
  },
  cli: {
    usage: 'state save <task_id> <state>',
    examples: [
      'state save deploy-42 \'{"step":3}\' --note "waits for approval"',
      'state save deploy-42 @state.json',
    ],
  },
  subject: (input) => stateKey(input.task_id),
  example: { task_id: 'example-task', state: { step: 3 }, note: 'waits for approval' },
}).write({
  commit: async (context, { task_id, state, note, ...condition }) => {
    const key = stateKey(task_id);
    const written = await writeKey(context, {
      key,
      text: state,
      note: note ?? null,
      expiresAt: null,
      condition,
    });
    const { updated_at: saved_at, version } = written;
    return { task_id, key, saved_at, version, ...warningsAsText({ state }) };
  },
});
