import * as z from 'zod';
import { invalid } from '../../lib/errors.ts';
import { newRequestId } from '../../lib/ids.ts';
import { API_BODY_MAX_BYTES } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { signedDelivery } from '../../rules/payload/signature.ts';
import { sourceName } from '../fields.ts';
import { sourceNamed } from './named.ts';
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
    content_type: z
      .string()
      .max(255)
      .default('application/json')
      .describe('Of the body: Twilio signs the fields of a form.'),
  }),
  output: z.object({
    url: z.string().describe('Where to POST the body.'),
    headers: z.record(z.string(), z.string()).describe('Headers to send with it.'),
    body_base64: z
      .string()
      .nullable()
      .describe('The body to send instead, for senders that sign in it; otherwise null.'),
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
  commit: async ({ store, vault, server, project, now }, { name, body_base64, content_type }) => {
    const source = await sourceNamed(store, name);
    const url = hookUrl(source, { vault, server, project });
    if (url === null) throw invalid({ path: 'name', message: 'Not a webhook source.' });
    const secret = openSecret(source, 'secret', vault, project.id);
    if (secret === null) return { url, headers: {}, body_base64: null };
    const given = Buffer.from(body_base64, 'base64');
    const { verification, signature_header: signatureHeader } = source;
    const id = `msg_${newRequestId()}`;
    const signed = signedOrRefused({
      verification,
      secret,
      signatureHeader,
      url,
      id,
      contentType: content_type,
      body: given,
      nowMs: now,
    });
    const isSame = signed.body.equals(given);
    return {
      url,
      headers: { ...signed.headers },
      body_base64: isSame ? null : signed.body.toString('base64'),
    };
  },
});

/** Only some senders let others sign, and some sign inside the body. */
function signedOrRefused(delivery: Parameters<typeof signedDelivery>[0]) {
  try {
    return signedDelivery(delivery);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw invalid({ path: 'body_base64', message: error.message });
  }
}
