import { randomBytes } from 'node:crypto';
import { signWebhook } from '../../shared/rules/signature.ts';

const SECRET_BYTES = 32;

/** A new secret of Standard Webhooks, in the form in which receivers' libraries take it. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/**
 * The headers of Standard Webhooks for one attempt: the id stays the same on every attempt, the time is that of the attempt.
 * While a secret is being changed there are two signatures, and the receiver needs to know only one of them. Throws
 * TypeError without a secret, for a bad one, and for an id with a dot: nothing goes out unsigned.
 */
export function signatureHeaders(message: {
  readonly id: string;
  readonly body: Uint8Array | string;
  readonly nowMs: number;
  readonly secrets: readonly string[];
}): Readonly<Record<string, string>> {
  const { id, nowMs, secrets } = message;
  const body = typeof message.body === 'string' ? Buffer.from(message.body) : message.body;
  const [newest, ...older] = secrets.map((secret) =>
    signWebhook({ verification: 'standard_webhooks', secret, id, body, nowMs }),
  );
  if (newest === undefined) throw new TypeError('There is no secret to sign with.');
  const signatures = [newest, ...older].map((headers) => headers['webhook-signature']);
  return { ...newest, 'webhook-signature': signatures.join(' ') };
}
