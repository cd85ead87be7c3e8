import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { kvKey } from '../disk-fields.ts';
import { kvEntry, toEntry } from './view.ts';

export const kvGet = defineOperation({
  name: 'kv_get',
  summary: "Read a key's value.",
  description: 'Returns null if the key is missing or expired. Also reads `state/…` keys.',
  scope: 'disk',
  disk: { field: 'key', kind: 'key' },
  input: z.strictObject({ key: kvKey }),
  output: kvEntry.nullable(),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/kv/{key+}', versioned: true },
  mcp: { title: 'Read a value' },
  cli: { usage: 'kv get <key>', examples: ['kv get last-run'], emptyWhenNull: '' },
  example: { key: 'example/counter' },
}).read(async ({ store, now }, { key }) => {
  const row = await store.kv.find(key, now);
  return row ? toEntry(row) : null;
});
