import { randomBytes } from 'node:crypto';
import { signWebhook } from '../../shared/rules/payload/signature.ts';

const SECRET_BYTES = 32;

/** A new Standard Webhooks secret, in the form that receivers' libraries accept. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/**
 * The Standard Webhooks headers of one attempt: the id is the same on every attempt, the time is the attempt's. During a
 * secret's rotation there are two signatures, and a receiver needs only one of the secrets. Throws TypeError for a
 * missing or invalid secret and for an id with a dot, so nothing is sent unsigned.
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
