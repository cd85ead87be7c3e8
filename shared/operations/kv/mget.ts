import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { ServiceError } from '../../lib/errors.ts';
import { KV_GET_MAX_BYTES, KV_GET_MAX_KEYS } from '../../lib/limits.ts';
import { kvKey } from '../disk-fields.ts';
import { kvEntry, toEntry } from './view.ts';

export const kvMget = defineOperation({
  name: 'kv_mget',
  summary: 'Read the values of several keys.',
  description:
    'Returns one item per key, in the same order and from one moment; null for a missing or expired key. At most 100 keys and 4 MB of values.',
  scope: 'disk',
  disk: { field: 'keys', kind: 'key' },
  input: z.strictObject({
    keys: z.array(kvKey).min(1).max(KV_GET_MAX_KEYS).describe('The keys, in any order.'),
  }),
  output: z.object({
    items: z
      .array(kvEntry.nullable())
      .describe('In the order of `keys`; null where a key is missing or expired.'),
  }),
  errors: ['PAYLOAD_TOO_LARGE'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'POST', path: '/v1/kv-mget' },
  mcp: false,
  cli: { usage: 'kv mget <keys>', examples: ['kv mget last-run config'] },
  example: { keys: ['example/counter', 'example/none'] },
}).read(async ({ store, now }, { keys }) => {
  const heads = await store.kv.headsOf(keys, now);
  const bytes = keys.reduce((sum, key) => sum + (heads.get(key)?.size_bytes ?? 0), 0);
  if (bytes > KV_GET_MAX_BYTES) {
    const hint = 'Together the values are over 4 MB: ask for fewer keys at once.';
    throw new ServiceError('PAYLOAD_TOO_LARGE', { hint });
  }
  const items: (z.infer<typeof kvEntry> | null)[] = [];
  for (const key of keys) {
    const row = heads.has(key) ? await store.kv.find(key, now) : undefined;
    items.push(row ? toEntry(row) : null);
  }
  return { items };
});
