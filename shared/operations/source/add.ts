import { hash } from 'node:crypto';
import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { invalid, ServiceError, type FieldProblem } from '../../lib/errors.ts';
import { newToken } from '../../lib/ids.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { SERVICE_SOURCE, SOURCE_NAME } from '../../rules/inbox/source-name.ts';
import { secretProblem, sourceSecret } from './secret.ts';
import { VERIFICATIONS } from '../../senders/registry.ts';
import { sourceAad, sourceView, toSourceView } from './view.ts';

const input = z.strictObject({
  type: z.enum(['webhook', 'email']).describe('What the source receives.'),
  name: z
    .string()
    .regex(SOURCE_NAME, 'Use 1 to 63 of a-z, 0-9, _ and -, starting with a letter or digit.')
    .refine((name) => name !== SERVICE_SOURCE, 'The name `service` is reserved.')
    .describe('Unique in the project.'),
  verification: z
    .enum(VERIFICATIONS)
    .default('none')
    .describe(
      'The sender, which decides how deliveries are signed; `standard_webhooks` and `hmac_sha256` fit any that sign so, and `none` accepts anyone with the URL.',
    ),
  secret: sourceSecret.optional(),
  signature_header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/, 'Expected a header name.')
    .optional()
    .describe("Only for `hmac_sha256`: the signature's header (default `x-signature`)."),
});

export const sourceAdd = defineOperation({
  name: 'source_add',
  summary: 'Add a source and get its address.',
  description:
    "A webhook source returns a URL to give to the sender; pass the verification scheme and secret. An email source returns the project's mail address; a project has at most one.",
  scope: 'admin',
  input,
  output: sourceView,
  errors: ['SOURCE_NAME_TAKEN', 'EMAIL_SOURCE_EXISTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/sources', status: 201 },
  mcp: { title: 'Add a source' },
  cli: {
    usage: 'source add <name>',
    defaults: { type: 'webhook' },
    examples: [
      'source add github --verification github --secret @secret.txt',
      'source add stripe --verification stripe --secret "$STRIPE_WEBHOOK_SECRET"',
      'source add mail --type email',
      'source add build-bot --verification hmac_sha256 --secret @secret.txt --signature-header x-build-signature',
    ],
  },
  subject: (_input, output) => output.name,
  example: { type: 'webhook', name: 'github', verification: 'github', secret: 'a-shared-secret' },
}).write({
  commit: async (context, wanted) => {
    const { store, vault, server, project, caller, now } = context;
    refuseBadCombination(wanted, server.mail.domain !== null);
    if (await store.sources.findByName(wanted.name)) throw new ServiceError('SOURCE_NAME_TAKEN');
    if (wanted.type === 'email' && (await store.sources.email())) {
      throw new ServiceError('EMAIL_SOURCE_EXISTS');
    }
    const token = newToken(project.id);
    // The token is random, so a hash of it makes a unique id.
    const id = `src_${hash('sha256', token).slice(0, 24)}`;
    const row = {
      id,
      name: wanted.name,
      type: wanted.type,
      verification: wanted.verification,
      signature_header: signatureHeader(wanted),
      secret: wanted.secret ? vault.seal(sourceAad('secret', project.id, id), wanted.secret) : null,
      previous_secret: null,
      previous_valid_until: null,
      token: vault.seal(sourceAad('token', project.id, id), token),
      created_at: isoTime(now),
      created_by: caller.keyId,
      secret_by: wanted.secret ? caller.keyId : null,
    };
    await store.sources.insert({
      ...row,
      token_hash: hash('sha256', token),
    });
    return toSourceView(row, context);
  },
});

function signatureHeader(wanted: z.output<typeof input>): string | null {
  if (wanted.verification !== 'hmac_sha256') return null;
  return (wanted.signature_header ?? 'x-signature').toLowerCase();
}

function refuseBadCombination(wanted: z.output<typeof input>, takesMail: boolean): void {
  const problems: FieldProblem[] = [];
  const { type, verification, secret, signature_header } = wanted;
  if (type === 'email') problems.push(...mailProblems(wanted, takesMail));
  const problem = secretProblem(verification, secret);
  if (problem !== null) problems.push({ path: 'secret', message: problem });
  if (signature_header !== undefined && verification !== 'hmac_sha256') {
    problems.push({ path: 'signature_header', message: 'Only for `hmac_sha256`.' });
  }
  if (problems.length > 0) throw invalid(...problems);
}

function mailProblems(
  { verification }: z.output<typeof input>,
  takesMail: boolean,
): FieldProblem[] {
  if (!takesMail) {
    return [{ path: 'type', message: "This server doesn't receive mail; use `webhook`." }];
  }
  if (verification === 'none') return [];
  return [{ path: 'verification', message: 'Mail is verified by DKIM; leave this out.' }];
}
