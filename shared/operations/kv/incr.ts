import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { invalid, ServiceError } from '../../lib/errors.ts';
import { isStateKey } from '../../rules/disk/disk-name.ts';
import type { KvRow } from '../../store/tables/disk/kv.ts';
import { kvKey } from '../disk-fields.ts';
import { expiryOf, ttlSeconds } from './view.ts';
import { writeKey } from './write.ts';

const safeInteger = z.int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

export const kvIncr = defineOperation({
  name: 'kv_incr',
  summary: 'Add to a counter.',
  description:
    'Adds `by` to the integer under a key in one step, so agents that count at the same time lose nothing. A missing or expired key counts from 0. Keeps the expiry unless ttl_seconds is given.',
  scope: 'disk',
  disk: { field: 'key', kind: 'key' },
  input: z.strictObject({
    key: kvKey,
    by: safeInteger.default(1).describe('What to add; may be negative.'),
    ttl_seconds: ttlSeconds.describe('How long the key lasts from now.'),
  }),
  output: z.object({
    key: z.string().describe('The key.'),
    value: z.int().describe('The value after adding.'),
    expires_at: z.string().nullable().describe('When the key ends; null means never.'),
    version: z.int().describe('Rises with each write; pass as `if_version`.'),
  }),
  errors: ['PATH_RESERVED', 'QUOTA_EXCEEDED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/kv-incr' },
  mcp: false,
  cli: {
    usage: 'kv incr <key>',
    examples: ['kv incr invoices/count', 'kv incr stock/lamp --by -2'],
  },
  subject: (input) => input.key,
  example: { key: 'example/count', by: 1 },
}).write({
  commit: async (context, { key, by, ttl_seconds }) => {
    if (isStateKey(key)) throw new ServiceError('PATH_RESERVED');
    const row = await context.store.kv.find(key, context.now);
    const value = counted(row) + by;
    if (!Number.isSafeInteger(value)) throw refused(`${counted(row)} plus ${by} is out of range.`);
    const kept = row?.expires_at ?? null;
    const { expires_at, version } = await writeKey(context, {
      key,
      text: String(value),
      note: null,
      expiresAt: ttl_seconds === undefined ? kept : expiryOf(ttl_seconds, context.now),
      condition: {},
    });
    return { key, value, expires_at, version };
  },
});

/** The integer that is stored; 0 if there's none. */
function counted(row: Pick<KvRow, 'value'> | undefined): number {
  if (!row) return 0;
  const text = Buffer.from(row.value).toString('utf8');
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw refused("Its value isn't an integer.");
  return value;
}

function refused(message: string): ServiceError {
  return invalid({ path: 'key', message });
}
