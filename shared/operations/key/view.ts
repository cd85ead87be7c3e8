import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { SCOPES } from '../../lib/scopes.ts';
import { isoTime } from '../../lib/clock.ts';
import type { KeyRecord } from '../../store/tables/access/keys.ts';
import { howKeyEnded, makerFields, type MakerNames } from '../access/maker.ts';

/** A key as callers see it, with only the last four characters of the secret. */
export const keyView = named(
  'Key',
  z
    .object({
      id: z.string().describe('`key_…`.'),
      name: z.string().describe('What people call it.'),
      status: z.enum(['active', 'expired', 'revoked']).describe('Whether it works.'),
      last4: z.string().describe('The last characters of the secret.'),
      scopes: z.array(z.enum(SCOPES)).describe('What it may do.'),
      disk_prefixes: z
        .array(z.string())
        .nullable()
        .describe('The only names on the disk that the key may use start with these. Null: all.'),
      created_at: z.string().describe('When it was created.'),
      ...makerFields,
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

export async function toKeyView(
  record: KeyRecord,
  { names, now }: { readonly names: MakerNames; readonly now: number },
): Promise<z.output<typeof keyView>> {
  const { secret_expires_at: _, ...key } = record;
  return { ...key, status: statusOf(key, isoTime(now)), maker: await names.ofKey(key.created_by) };
}

function statusOf(
  key: Pick<KeyRecord, 'revoked_at' | 'expires_at'>,
  nowIso: string,
): 'active' | 'expired' | 'revoked' {
  const { revoked_at: revoked, expires_at: expires } = key;
  const isOver = revoked !== null || (expires !== null && expires <= nowIso);
  return isOver ? howKeyEnded(key) : 'active';
}

/** A key with its secret, which callers see only in this answer. */
export const newKeyView = named(
  'KeyWithSecret',
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
