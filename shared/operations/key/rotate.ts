import * as z from 'zod';
import type { WriteContext } from '../../kernel/context.ts';
import { isoTime } from '../../lib/clock.ts';
import { invalid, notFound, scopeMissing, ServiceError } from '../../lib/errors.ts';
import { mayGrant } from '../../lib/scopes.ts';
import { hashApiKey, last4, newApiKey } from '../../lib/ids.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { KeyRecord } from '../../store/tables/access/keys.ts';
import { memberBehind } from '../member/of-key.ts';
import { endParts } from '../access/end.ts';
import { madeParts } from '../access/made.ts';
import { MakerNames } from '../access/maker.ts';
import { aftermathFields, type Aftermath } from '../access/view.ts';
import { resolveRequest } from '../request/resolve.ts';
import { keyId, newKeyView, toKeyView } from './view.ts';

/** The old secret must work long enough for the caller to repeat the call if the answer gets lost. */
const OWN_GRACE_SECONDS = 60;

export const keyRotate = defineOperation({
  name: 'key_rotate',
  summary: 'Give a key a new secret.',
  description:
    'The key keeps its id, name, scopes, prefixes, leases and what it made. The old secret works for grace_seconds more, but not for keys or what needs `admin`; if a key rotates itself, for at least a minute, so you can repeat the call. Any key can rotate itself, but not one of an app. Rotating another needs `admin`, all its scopes and the same member; a key made by a key rotates only its own.',
  scope: 'any',
  input: z.strictObject({
    key_id: keyId,
    grace_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(0)
      .describe('How long the old secret keeps working.'),
    end_made: z
      .boolean()
      .default(false)
      .describe('Also end what the key made, as key_revoke does, and its waits.'),
  }),
  output: newKeyView.extend(aftermathFields),
  errors: ['NOT_FOUND', 'SCOPE_MISSING', 'KEY_REVOKED'],
  effect: 'write',
  replica: 'upstream',
  rest: {
    method: 'POST',
    path: '/v1/keys/{id}/rotate',
    params: { id: 'key_id' },
    status: 201,
  },
  mcp: false,
  cli: {
    usage: 'key rotate <key_id>',
    examples: [
      'key rotate key_01j9z3k4m5n6p7q8r9s0t1v2w3 --grace-seconds 3600',
      'key rotate key_01j9z3k4m5n6p7q8r9s0t1v2w3 --end-made',
    ],
  },
  subject: (input) => input.key_id,
  example: { key_id: 'key_01j9z3k4m5n6p7q8r9s0t1v2w3', grace_seconds: 3600 },
}).write({
  commit: async (context, { key_id, grace_seconds, end_made }) => {
    const { caller, project, store, now, emit } = context;
    if (key_id !== caller.keyId && !caller.scopes.includes('admin')) {
      throw scopeMissing('admin');
    }
    const own = key_id === caller.keyId;
    if (!own && (await store.keys.appBehind(caller.keyId))) {
      const message = "An app can't rotate other keys, because its own access ends.";
      throw invalid({ path: 'key_id', message });
    }
    const key = await store.keys.find(key_id);
    if (!key) throw notFound(`key ${key_id}`);
    if (key.revoked_at !== null) throw new ServiceError('KEY_REVOKED');
    if (key.client !== null) {
      const message = `${key.client} renews the secret of this key itself. Revoke the key to end its access.`;
      throw invalid({ path: 'key_id', message });
    }
    // The answer contains the secret, so rotating must not give the caller more scopes than creating a key could.
    const missing = key.scopes.find((scope) => !mayGrant(caller.scopes, scope));
    if (missing) throw scopeMissing(missing);
    await refuseOthers(context, key_id);
    const graceSeconds = own ? Math.max(OWN_GRACE_SECONDS, grace_seconds) : grace_seconds;
    const apiKey = newApiKey(project.id);
    await store.keys.rotate(key_id, {
      hash: hashApiKey(apiKey),
      last4: last4(apiKey),
      previousUntil: isoTime(now + graceSeconds * 1000),
    });
    emit({ kind: 'keys_changed' });
    const aftermath = end_made ? await endMade(context, key) : { ended: [], left: [] };
    const view = await toKeyView(key, { names: new MakerNames(context), now });
    return { ...view, last4: last4(apiKey), api_key: apiKey, ...aftermath };
  },
});

/** Whoever had the old secret keeps nothing. The key itself stays, so the project keeps an admin. */
async function endMade(context: WriteContext, key: KeyRecord): Promise<Aftermath> {
  const parts = await madeParts(context, [key.id]);
  await context.store.fileLinks.revokeKey(key.id);
  context.emit({ kind: 'key_ended', keyId: key.id });
  return endParts(context, parts, {
    because: 'the key that made it got a new secret',
    resolve: resolveRequest,
  });
}

/**
 * SCOPE_MISSING if the caller could keep the new secret for longer than its own access: the secret of somebody else's key, or
 * of a key that doesn't end with it. The key of a person's sign-in, and this machine's own, may rotate all of that person's.
 */
async function refuseOthers({ store, caller }: WriteContext, wanted: string): Promise<void> {
  const { created_by: maker = null } = (await store.keys.find(caller.keyId)) ?? {};
  const line = await store.makers.line([caller.keyId]);
  if (maker?.startsWith('key_') && !line.includes(wanted)) {
    throw new ServiceError('SCOPE_MISSING', {
      details: { scope: 'admin' },
      hint: 'A key that another key made can rotate itself and the keys that it made. The key that made both can rotate this one, or an owner in the web inbox.',
    });
  }
  const own = await memberBehind(store, caller);
  if (!own || caller.member?.role === 'owner') return;
  if ((await memberBehind(store, { keyId: wanted }))?.id === own.id) return;
  throw new ServiceError('SCOPE_MISSING', {
    details: { scope: 'admin' },
    hint: 'This key belongs to somebody else. Revoke it, or let its member or an owner rotate it in the web inbox.',
  });
}
