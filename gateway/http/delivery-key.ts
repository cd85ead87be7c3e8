import { hash } from 'node:crypto';
import {
  standardHeaders,
  type HeaderRecord,
  type Verification,
} from '../../shared/rules/signature.ts';

// The gateway replaces an id that is longer or not printable ASCII by its hash, because a truncated id could equal
// another one.
const PLAIN_ID = /^[\x20-\x7e]{1,255}$/;

/**
 * Returns the provider's id of a delivery for deduplication (spec section 6, delivery rule 3), at most 255
 * characters. Null if there is none: then the hash of the body decides.
 *
 * For each kind of source, only the place that its provider uses counts. An attacker who repeats a captured, signed
 * delivery can change every header that the signature doesn't cover. So a fresh `idempotency-key` must not turn an
 * old Stripe body into a new event, nor a `webhook-id` a message signed as `svix-*`. GitHub doesn't sign its delivery
 * id, and `hmac_sha256` signs no header: there, the body hash detects repeats under another id.
 */
export function providerId(delivery: {
  verification: Verification;
  headers: HeaderRecord;
  payload: unknown;
}): string | null {
  const id = rawId(delivery.verification, delivery.headers, delivery.payload);
  if (id === undefined || id === '') return null;
  return PLAIN_ID.test(id) ? id : `sha256:${hash('sha256', id)}`;
}

function rawId(
  verification: Verification,
  headers: HeaderRecord,
  payload: unknown,
): string | undefined {
  switch (verification) {
    case 'stripe':
      return stripeId(payload);
    case 'github':
      return headers['x-github-delivery'];
    case 'standard_webhooks':
      return standardHeaders(headers)?.id;
    case 'hmac_sha256':
    case 'none':
      break;
  }
  return headers['webhook-id'] || headers['svix-id'] || headers['idempotency-key'];
}

function stripeId(payload: unknown): string | undefined {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, 'id')) {
    return undefined;
  }
  const id: unknown = Reflect.get(payload, 'id');
  return typeof id === 'string' ? id : undefined;
}

/** SHA-256 of the raw body. It identifies deliveries without an id, and repeated bodies. */
export function bodyHash(body: Uint8Array): Uint8Array {
  return hash('sha256', body, 'buffer');
}
