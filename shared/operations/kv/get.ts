import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { parseExact } from '../../lib/exact-json.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { kvKey } from '../disk-fields.ts';

export const kvGet = defineOperation({
  name: 'kv_get',
  summary: "Read a key's value.",
  description: 'Returns null if the key is missing or expired. Also reads `state/…` keys.',
  scope: 'disk',
  input: z.strictObject({ key: kvKey }),
  output: z
    .object({
      key: z.string(),
      value: z.unknown(),
      expires_at: z.string().nullable(),
      updated_at: z.string(),
      version: z.int(),
    })
    .nullable(),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/kv/{key+}', versioned: true },
  mcp: { title: 'Read a value' },
  cli: { usage: 'kv get <key>', examples: ['kv get last-run'], emptyWhenNull: '' },
  example: { key: 'example/counter' },
}).read(async ({ store, now }, { key }) => {
  const row = await store.kv.find(key, now);
  if (!row) return null;
  return {
    key,
    value: parseExact(Buffer.from(row.value).toString('utf8')),
    expires_at: row.expires_at === null ? null : isoTime(row.expires_at),
    updated_at: row.updated_at,
    version: row.version,
  };
});
