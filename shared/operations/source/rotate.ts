import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { invalid } from '../../lib/errors.ts';
import {
  SOURCE_SECRET_GRACE_DEFAULT_SECONDS,
  SOURCE_SECRET_GRACE_MAX_SECONDS,
} from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { SourceRow } from '../../store/tables/inbox/sources.ts';
import { sourceName } from '../fields.ts';
import { sourceNamed } from './named.ts';
import { secretProblem, sourceSecret } from './secret.ts';
import { VERIFICATIONS } from '../../senders/registry.ts';
import { openSecret, previousUntil, sourceAad } from './view.ts';

export const sourceRotate = defineOperation({
  name: 'source_rotate',
  summary: 'Give a source a new secret; its URL stays.',
  description:
    "The source also accepts the old secret for previous_valid_seconds, so the sender can switch; use 0 if the old secret leaked. Only the newest two secrets are kept. Passing the current secret changes nothing but restarts previous_valid_seconds for the old one, if that's still valid.",
  scope: 'admin',
  input: z.strictObject({
    name: sourceName,
    secret: sourceSecret,
    previous_valid_seconds: z
      .int()
      .min(0)
      .max(SOURCE_SECRET_GRACE_MAX_SECONDS)
      .default(SOURCE_SECRET_GRACE_DEFAULT_SECONDS)
      .describe('How long the old secret also works.'),
  }),
  output: z.object({
    name: z.string().describe('The source.'),
    verification: z.enum(VERIFICATIONS).describe('How deliveries are signed.'),
    rotated_at: z.string().describe('When the new secret came into force.'),
    previous_valid_until: z.string().nullable().describe('When the old secret stops working.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/sources/{name}/rotate' },
  mcp: false,
  cli: {
    usage: 'source rotate <name>',
    examples: [
      'source rotate github --secret @new-secret.txt',
      'source rotate github --secret @new-secret.txt --previous-valid-seconds 0',
    ],
  },
  subject: (input) => input.name,
  example: { name: 'github', secret: 'another-shared-secret', previous_valid_seconds: 3600 },
}).write({
  commit: async (context, { name, secret, previous_valid_seconds }) => {
    const { store, vault, project, caller, now, emit } = context;
    const source = await sourceNamed(store, name);
    if (source.type !== 'webhook')
      throw invalid({ path: 'name', message: 'Not a webhook source.' });
    const { id, verification } = source;
    const problem = secretProblem(verification, secret);
    if (problem !== null) throw invalid({ path: 'secret', message: problem });
    const before = previous_valid_seconds === 0 ? null : secretBefore(source, secret, context);
    const until = before === null ? null : now + previous_valid_seconds * 1000;
    const seal = (column: 'secret' | 'previous_secret', text: string): Uint8Array =>
      vault.seal(sourceAad(column, project.id, id), text);
    await store.sources.setSecrets(id, {
      secret: seal('secret', secret),
      previous_secret: before === null ? null : seal('previous_secret', before),
      previous_valid_until: until,
      secret_by: caller.keyId,
    });
    emit({ kind: 'sources_changed' });
    if (until !== null) emit({ kind: 'due', at: until });
    return {
      name,
      verification,
      rotated_at: isoTime(now),
      previous_valid_until: until === null ? null : isoTime(until),
    };
  },
});

/**
 * The secret that stays valid alongside the new one. If the caller repeats a rotation, the new secret must not become
 * its own predecessor.
 */
function secretBefore(
  source: SourceRow,
  secret: string,
  { vault, project, now }: WriteContext,
): string | null {
  const current = openSecret(source, 'secret', vault, project.id);
  if (current !== secret) return current;
  if (previousUntil(source, now) === null) return null;
  return openSecret(source, 'previous_secret', vault, project.id);
}
