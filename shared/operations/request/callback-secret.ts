import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { CALLBACK_SECRET_GRACE_MS } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';

/** Both columns of the row use this one text, so that the current secret can move to the previous column unchanged. */
export function callbackSecretAad(projectId: string): string {
  return `callback_secret|${projectId}|1|secret`;
}

export const requestCallbackSecret = defineOperation({
  name: 'request_callback_secret',
  summary: 'Create or rotate the secret that signs request callbacks.',
  description:
    "Requests with a callback_url need it. The answer has the secret; you won't see it again. If you rotate it, callbacks carry both signatures for 24 hours so receivers can switch.",
  scope: 'admin',
  input: z.strictObject({}),
  output: z.object({
    secret: z.string().describe('Receivers check signatures with it; shown only once.'),
    created_at: z.string().describe('When it was created.'),
    previous_valid_until: z.string().nullable().describe('When the old secret stops signing.'),
  }),
  errors: [],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/request-callback-secret', status: 201 },
  mcp: false,
  cli: { usage: 'request callback secret', examples: ['request callback secret'] },
  subject: () => 'callback_secret',
  example: {},
}).write({
  prepare: async ({ callbacks }) => callbacks.newSecret(),
  commit: async ({ store, vault, project, caller, now, emit }, _input, secret) => {
    const before = await store.callbackSecret.get();
    const created_at = isoTime(now);
    const until = before ? now + CALLBACK_SECRET_GRACE_MS : null;
    await store.callbackSecret.set({
      secret: vault.seal(callbackSecretAad(project.id), secret),
      created_at,
      previous: before?.secret ?? null,
      previous_valid_until: until,
      created_by: caller.keyId,
    });
    emit({ kind: 'callbacks_changed' });
    const previous_valid_until = until === null ? null : isoTime(until);
    return { secret, created_at, previous_valid_until };
  },
});
