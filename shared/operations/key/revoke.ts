import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { notFound, scopeMissing, ServiceError } from '../../lib/errors.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { endKeyAlone, endParts } from '../access/end.ts';
import { keptParts, madeParts } from '../access/made.ts';
import { aftermathFields } from '../access/view.ts';
import { memberBehind } from '../member/of-key.ts';
import { resolveRequest } from '../request/resolve.ts';
import { refuseLastAdmin } from './last-admin.ts';
import { keyId } from './view.ts';

export const keyRevoke = defineOperation({
  name: 'key_revoke',
  summary: 'Revoke a key, and end what it made.',
  description:
    "The key stops working at once. What it made ends too, through all generations: keys, routes, invitations, links, pending requests. Sources, members and channels go on: `left` says how to end them. `keep` ends the key alone; calling again ends the rest. Any key can revoke itself; another needs `admin`, an owner's needs an owner. No key can revoke its maker or the last admin key.",
  scope: 'any',
  input: z.strictObject({
    key_id: keyId,
    keep: z.boolean().default(false).describe('Keep what it made, except links to files.'),
  }),
  output: z.object({
    id: z.string().describe('`key_…`.'),
    revoked_at: z.string().describe('When it stopped working.'),
    ...aftermathFields,
  }),
  errors: ['NOT_FOUND', 'SCOPE_MISSING', 'LAST_ADMIN_KEY'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/keys/{id}', params: { id: 'key_id' } },
  mcp: false,
  cli: {
    usage: 'key revoke <key_id>',
    examples: [
      'key revoke key_01j9z3k4m5n6p7q8r9s0t1v2w3',
      'key revoke key_01j9z3k4m5n6p7q8r9s0t1v2w3 --keep',
    ],
  },
  subject: (input) => input.key_id,
  example: { key_id: 'key_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { key_id, keep }) => {
    const { caller, store, now } = context;
    if (key_id !== caller.keyId && !caller.scopes.includes('admin')) {
      throw scopeMissing('admin');
    }
    const key = await store.keys.find(key_id);
    if (!key) throw notFound(`key ${key_id}`);
    await refuseMaker(context, key_id);
    await refuseOwners(context, key_id);
    const parts = await madeParts(context, [key_id]);
    await refuseLastAdmin(context, key, keep ? [] : parts.ending);
    if (key.revoked_at === null) await endKeyAlone(context, key_id);
    const revokedAt = key.revoked_at ?? isoTime(now);
    const aftermath = keep
      ? await keptParts(context, [key_id], parts)
      : await endParts(context, parts, {
          because: 'the key that made it was revoked',
          resolve: resolveRequest,
        });
    return { id: key_id, revoked_at: revokedAt, ...aftermath };
  },
});

/** A stolen key can't end the key that made it: SCOPE_MISSING. */
async function refuseMaker({ store, caller }: WriteContext, wanted: string): Promise<void> {
  if (wanted === caller.keyId || !(await store.makers.line([wanted])).includes(caller.keyId))
    return;
  throw new ServiceError('SCOPE_MISSING', {
    details: { scope: 'admin' },
    hint: "A key can't revoke the key that made it. That key can revoke itself, and an owner can in the web inbox.",
  });
}

/** An agent may be using a key, so no key and no admin locks an owner out: SCOPE_MISSING. */
async function refuseOwners({ store, caller }: WriteContext, wanted: string): Promise<void> {
  if (wanted === caller.keyId || caller.member?.role === 'owner') return;
  const holder = await memberBehind(store, { keyId: wanted });
  if (holder?.role !== 'owner') return;
  if ((await memberBehind(store, caller))?.id === holder.id) return;
  throw new ServiceError('SCOPE_MISSING', {
    details: { scope: 'admin' },
    hint: 'This key belongs to an owner. They can revoke it with any of their admin keys, and any owner can in the web inbox.',
  });
}
