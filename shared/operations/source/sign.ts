import * as z from 'zod';
import { invalid, notFound } from '../../lib/errors.ts';
import { newRequestId } from '../../lib/ids.ts';
import { API_BODY_MAX_BYTES } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { signWebhook } from '../../rules/signature.ts';
import { sourceName } from '../fields.ts';
import { openSecret, hookUrl } from './view.ts';

export const sourceSign = defineOperation({
  name: 'source_sign',
  summary: "Sign a body as the source's sender would.",
  description:
    'For testing a source: returns its URL and the signature headers for a body, without revealing the secret. You send the delivery yourself.',
  scope: 'admin',
  input: z.strictObject({
    name: sourceName,
    body_base64: z.base64().max(1_000_000).describe('The exact bytes of the body.'),
  }),
  output: z.object({
    url: z.string().describe('Where to POST the body.'),
    headers: z.record(z.string(), z.string()).describe('Headers to send with it.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/sources/{name}/sign', bodyMaxBytes: API_BODY_MAX_BYTES },
  mcp: false,
  cli: {
    usage: 'source sign <name>',
    examples: ['source sign github --body-base64 "$(base64 -w0 body.json)"'],
  },
  subject: (input) => input.name,
  example: { name: 'github', body_base64: 'e30=' },
}).write({
  commit: async ({ store, vault, server, project, now }, { name, body_base64 }) => {
    const source = await store.sources.findByName(name);
    if (!source) throw notFound(`source ${name}`);
    const url = hookUrl(source, { vault, server, project });
    if (url === null) throw invalid({ path: 'name', message: 'Not a webhook source.' });
    const secret = openSecret(source, 'secret', vault, project.id);
    if (secret === null) return { url, headers: {} };
    const headers = signWebhook({
      verification: source.verification,
      secret,
      signatureHeader: source.signature_header,
      body: Buffer.from(body_base64, 'base64'),
      nowMs: now,
      id: `msg_${newRequestId()}`,
    });
    return { url, headers };
  },
});
