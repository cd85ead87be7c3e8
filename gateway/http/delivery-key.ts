import { hash } from 'node:crypto';
import {
  standardHeaders,
  type HeaderRecord,
  type Verification,
} from '../../shared/rules/signature.ts';

// What is longer, or not printable ASCII, is replaced by its hash: a cut id could equal another one.
const PLAIN_ID = /^[\x20-\x7e]{1,255}$/;

/**
 * The provider's id of a delivery for deduplication (spec section 6, delivery rule 3), at most 255
 * characters, or null: then the hash of the body decides.
 *
 * Each kind of source believes only the place its provider uses. Whoever repeats a captured, signed
 * delivery can change every header the signature leaves out, so a fresh `idempotency-key` must not
 * make a new event of an old Stripe body, nor `webhook-id` one of a message signed as `svix-*`.
 * GitHub does not sign its delivery id, and `hmac_sha256` no header at all: there, watch the body
 * hash for repeats under another id.
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

/** SHA-256 of the raw body: the key of deliveries without an id, and the mark of repeated bodies. */
export function bodyHash(body: Uint8Array): Uint8Array {
  return hash('sha256', body, 'buffer');
}
