import * as z from 'zod';
import type { WriteContext } from '../../kernel/context.ts';
import { invalid, ServiceError } from '../../lib/errors.ts';
import { KV_BODY_MAX_BYTES } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { isStateKey } from '../../rules/disk/disk-name.ts';
import { jsonText, kvKey, writeCondition } from '../disk-fields.ts';
import { asTextWarnings, warningsAsText } from '../json-as-text.ts';
import { expiryOf, ttlSeconds } from './view.ts';
import { writeKey } from './write.ts';

export const kvSet = defineOperation({
  name: 'kv_set',
  summary: 'Store a JSON value under a key.',
  description:
    "Replaces any existing value. Without ttl_seconds the key never expires. With if_version, two agents can't overwrite each other.",
  scope: 'disk',
  disk: { field: 'key', kind: 'key' },
  input: z.strictObject({
    key: kvKey,
    value: jsonText.optional(),
    ttl_seconds: ttlSeconds.describe('How long the key lasts.'),
    ...writeCondition,
  }),
  output: z.object({
    key: z.string().describe('The key.'),
    size_bytes: z.int().describe('Size of the stored JSON.'),
    expires_at: z.string().nullable().describe('When the key ends; null means never.'),
    version: z.int().describe('Rises with each write; pass as `if_version`.'),
    warnings: asTextWarnings,
  }),
  errors: ['PATH_RESERVED', 'QUOTA_EXCEEDED', 'PRECONDITION_FAILED', 'PAYLOAD_TOO_LARGE'],
  effect: 'write',
  exact: ['value'],
  replica: 'upstream',
  rest: {
    method: 'PUT',
    path: '/v1/kv/{key+}',
    body: { field: 'value', as: 'json' },
    bodyMaxBytes: KV_BODY_MAX_BYTES,
    versioned: true,
  },
  mcp: { title: 'Store a value', destructive: true, idempotent: true, without: ['if_exists'] },
  cli: {
    usage: 'kv set <key> <value>',
    examples: [
      'kv set last-run \'{"at":"2026-01-02","ok":true}\'',
      'kv set config @config.json',
      'kv set lock \'"agent-1"\' --ttl-seconds 60 --if-version 0',
    ],
  },
  subject: (input) => input.key,
  example: { key: 'example/counter', value: { n: 1 }, ttl_seconds: 3600 },
}).write({
  commit: async (context, { key, value, ttl_seconds, ...condition }) => {
    if (isStateKey(key)) throw new ServiceError('PATH_RESERVED');
    if (value === undefined) await refuseToReplace(context, key);
    const { size_bytes, expires_at, version } = await writeKey(context, {
      key,
      text: value ?? 'null',
      note: null,
      expiresAt: expiryOf(ttl_seconds, context.now),
      condition,
    });
    return { key, size_bytes, expires_at, version, ...warningsAsText({ value }) };
  },
});

/** A value that was left out, perhaps by mistake, replaces nothing. */
async function refuseToReplace({ store, now }: WriteContext, key: string): Promise<void> {
  if (!(await store.kv.find(key, now))) return;
  throw invalid({
    path: 'value',
    message: 'The key has a value: give the new one, which may be null.',
  });
}
