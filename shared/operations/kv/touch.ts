import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { notFound, ServiceError } from '../../lib/errors.ts';
import { isStateKey } from '../../rules/disk/disk-name.ts';
import { kvKey } from '../disk-fields.ts';
import { expiryOf, expiryText, ttlSeconds } from './view.ts';

export const kvTouch = defineOperation({
  name: 'kv_touch',
  summary: 'Change when a key expires.',
  description:
    'Sets a new lifetime, counted from now, without writing the value. Without ttl_seconds the key never expires. The version stays the same.',
  scope: 'disk',
  disk: { field: 'key', kind: 'key' },
  input: z.strictObject({
    key: kvKey,
    ttl_seconds: ttlSeconds.describe('How long the key lasts from now.'),
  }),
  output: z.object({
    key: z.string().describe('The key.'),
    expires_at: z.string().nullable().describe('When the key ends; null means never.'),
    version: z.int().describe('Unchanged by this call.'),
  }),
  errors: ['NOT_FOUND', 'PATH_RESERVED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/kv-touch' },
  mcp: false,
  cli: {
    usage: 'kv touch <key>',
    examples: ['kv touch session/ana --ttl-seconds 3600', 'kv touch config'],
  },
  subject: (input) => input.key,
  example: { key: 'example/counter', ttl_seconds: 3600 },
}).write({
  commit: async (context, { key, ttl_seconds }) => {
    if (isStateKey(key)) throw new ServiceError('PATH_RESERVED');
    const { store, now, emit } = context;
    const row = await store.kv.find(key, now);
    if (!row) throw notFound(`key ${key}`);
    const expiresAt = expiryOf(ttl_seconds, now);
    await store.kv.setExpiry(key, expiresAt);
    if (expiresAt !== null) emit({ kind: 'due', at: expiresAt });
    return { key, expires_at: expiryText(expiresAt), version: row.version };
  },
});
