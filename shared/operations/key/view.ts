import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { SCOPES } from '../../lib/scopes.ts';
import type { KeyRecord } from '../../store/keys.ts';

/** A key as callers see it, with only the last four characters of the secret. */
export const keyView = named(
  'Key',
  z
    .object({
      id: z.string().describe('`key_…`.'),
      name: z.string().describe('What people call it.'),
      last4: z.string().describe('The last characters of the secret.'),
      scopes: z.array(z.enum(SCOPES)).describe('What it may do.'),
      disk_prefixes: z
        .array(z.string())
        .nullable()
        .describe('The only names on the disk that the key may use start with these. Null: all.'),
      created_at: z.string().describe('When it was created.'),
      created_by: z.string().nullable().describe('The key that created it.'),
      last_used_at: z.string().nullable().describe('When it was last used.'),
      expires_at: z.string().nullable().describe('When it ends; null means never.'),
      revoked_at: z.string().nullable().describe('When it was revoked.'),
      client: z
        .string()
        .nullable()
        .describe('The host of the app that a person let in by OAuth; null for other keys.'),
    })
    .describe('An API key, without its secret.'),
);

export function toKeyView(record: KeyRecord): z.output<typeof keyView> {
  const { secret_expires_at: _, ...key } = record;
  return key;
}

/** A key with its secret, which callers see only in this answer. */
export const newKeyView = named(
  'NewKey',
  keyView
    .extend({
      api_key: z.string().describe('The secret, shown only once.'),
    })
    .describe('An API key with its secret.'),
);

export const keyId = z
  .string()
  .regex(/^key_[0-9a-z]{26}$/, 'Expected a key id such as `key_01j…`.')
  .describe('The key, `key_…`.');
