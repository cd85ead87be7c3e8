import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { notFound, scopeMissing, ServiceError } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { endKey } from './end.ts';
import { isLastAdmin } from './last-admin.ts';
import { keyId } from './view.ts';

export const keyRevoke = defineOperation({
  name: 'key_revoke',
  summary: 'Revoke a key.',
  description:
    "The key stops working at once. Revoking an app's key also revokes the keys it made. Any key can revoke itself; revoking another needs `admin`. You can't revoke the last active admin key.",
  scope: 'any',
  input: z.strictObject({ key_id: keyId }),
  output: z.object({
    id: z.string().describe('`key_…`.'),
    revoked_at: z.string().describe('When it stopped working.'),
  }),
  errors: ['NOT_FOUND', 'SCOPE_MISSING', 'LAST_ADMIN_KEY'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/keys/{id}', params: { id: 'key_id' } },
  mcp: false,
  cli: { usage: 'key revoke <key_id>', examples: ['key revoke key_01j9z3k4m5n6p7q8r9s0t1v2w3'] },
  subject: (input) => input.key_id,
  example: { key_id: 'key_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { key_id }) => {
    const { caller, store, now } = context;
    if (key_id !== caller.keyId && !caller.scopes.includes('admin')) {
      throw scopeMissing('admin');
    }
    const nowIso = isoTime(now);
    const key = await store.keys.find(key_id);
    if (!key) throw notFound(`key ${key_id}`);
    if (key.revoked_at !== null) return { id: key_id, revoked_at: key.revoked_at };
    if (isLastAdmin(key, await store.keys.active(nowIso))) throw new ServiceError('LAST_ADMIN_KEY');
    await endKey(context, key);
    return { id: key_id, revoked_at: nowIso };
  },
});
