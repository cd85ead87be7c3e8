import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { invalid, ServiceError } from '../../lib/errors.ts';
import { hashApiKey, last4, newApiKey } from '../../lib/ids.ts';
import { ACTIVE_KEYS_MAX } from '../../lib/limits.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { limitProblem, mayGrant, SCOPES } from '../../lib/scopes.ts';
import { diskPrefixes } from '../disk-fields.ts';
import { isoInstant, label } from '../fields.ts';
import { MakerNames } from '../access/maker.ts';
import { tellOwners } from '../access/tell.ts';
import { newKeyView, toKeyView } from './view.ts';

export const keyCreate = defineOperation({
  name: 'key_create',
  summary: 'Create an API key.',
  description:
    "The secret is in `api_key`; you won't see it again. A key can't grant scopes it doesn't have.",
  scope: 'admin',
  input: z.strictObject({
    name: label(100).describe('What the key is for.'),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .max(SCOPES.length)
      .describe(`What the key may do: ${SCOPES.join(', ')}.`),
    disk_prefixes: diskPrefixes
      .optional()
      .describe('Limit the key to keys, task ids and file paths that start with one of these.'),
    expires_at: isoInstant
      .optional()
      .describe(
        "When the key stops working and what it made ends, ISO 8601 (default: never; if an app creates it, when the app's access ends).",
      ),
  }),
  output: newKeyView,
  errors: ['KEY_LIMIT_REACHED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/keys', status: 201 },
  mcp: false,
  cli: {
    usage: 'key create',
    flags: { disk_prefixes: 'disk-prefix' },
    examples: [
      'key create --name ci --scopes inbox:read,inbox:write',
      'key create --name team-a --scopes disk --disk-prefix team-a/',
      'key create --name audit --scopes ledger:read --expires-at 2030-01-01T00:00:00Z',
    ],
  },
  subject: (_input, output) => output.id,
  example: { name: 'ci', scopes: ['inbox:read', 'inbox:write'] },
}).write({
  commit: async (context, input) => {
    const { caller, project, store, now, newId } = context;
    const { name, scopes, disk_prefixes, expires_at } = input;
    const nowIso = isoTime(now);
    const missing = scopes.filter((scope) => !mayGrant(caller.scopes, scope));
    if (missing.length > 0) {
      throw invalid({
        path: 'scopes',
        message: `Your key doesn't have ${missing.join(', ')}, so it can't grant it.`,
      });
    }
    const problem = disk_prefixes ? limitProblem(scopes) : null;
    if (problem !== null) throw invalid({ path: 'disk_prefixes', message: problem });
    const expiresAt = await expiryFor({ store, caller, now }, expires_at);
    if ((await store.keys.active(nowIso)).length >= ACTIVE_KEYS_MAX) {
      throw new ServiceError('KEY_LIMIT_REACHED');
    }
    const apiKey = newApiKey(project.id);
    const key = {
      id: newId('key'),
      name,
      last4: last4(apiKey),
      scopes: [...new Set(scopes)],
      disk_prefixes: disk_prefixes ? [...new Set(disk_prefixes)] : null,
      created_at: nowIso,
      created_by: caller.keyId,
      last_used_at: null,
      expires_at: expiresAt,
      revoked_at: null,
      client: null,
    };
    await store.keys.insert({ ...key, hash: hashApiKey(apiKey) });
    if (scopes.includes('admin')) await tellOwners(context, key.id, caller);
    const view = await toKeyView(
      { ...key, secret_expires_at: null },
      { names: new MakerNames(context), now },
    );
    return { ...view, api_key: apiKey };
  },
});

/** When the new key expires: with the access of the app behind the caller, at the latest. VALIDATION_FAILED. */
async function expiryFor(
  { store, caller, now }: Pick<WriteContext, 'store' | 'caller' | 'now'>,
  wanted: string | undefined,
): Promise<string | null> {
  if (wanted !== undefined && wanted <= isoTime(now)) {
    throw invalid({ path: 'expires_at', message: 'This time has passed.' });
  }
  const latest = (await store.keys.appBehind(caller.keyId))?.expires_at ?? null;
  if (wanted !== undefined && latest !== null && wanted > latest) {
    const message = `The app's access ends at ${latest}, and its keys with it.`;
    throw invalid({ path: 'expires_at', message });
  }
  return wanted ?? latest;
}
