import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { SCOPES } from '../../lib/scopes.ts';
import type { KeyRecord } from '../../store/keys.ts';

/** A key as callers see it, with only the last four characters of the secret. */
export const keyView = named(
  'Key',
  z.object({
    id: z.string(),
    name: z.string(),
    last4: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    disk_prefixes: z
      .array(z.string())
      .nullable()
      .describe('The only names on the disk that the key may use start with these. Null: all.'),
    created_at: z.string(),
    created_by: z.string().nullable(),
    last_used_at: z.string().nullable(),
    expires_at: z.string().nullable(),
    revoked_at: z.string().nullable(),
    client: z
      .string()
      .nullable()
      .describe('The host of the app that a person let in by OAuth; null for other keys.'),
  }),
);

export function toKeyView(record: KeyRecord): z.output<typeof keyView> {
  const { secret_expires_at: _, ...key } = record;
  return key;
}

/** A key with its secret, which callers see only in this answer. */
export const newKeyView = named(
  'NewKey',
  keyView.extend({
    api_key: z.string().describe('The secret, shown only once.'),
  }),
);

export const keyId = z
  .string()
  .regex(/^key_[0-9a-z]{26}$/, 'Expected a key id such as `key_01j…`.')
  .describe('The key, `key_…`.');
