import { hash } from 'node:crypto';
import { headersOf } from '../../shared/senders/proof.ts';
import { readingOf } from '../../shared/senders/places.ts';
import { SENDERS, senderOf, type Verification } from '../../shared/senders/registry.ts';
import type { HeaderRecord, FieldLookup, Sender } from '../../shared/senders/sender.ts';
import { saidBy } from '../../shared/rules/payload/payload.ts';

// The gateway replaces an id that is longer or not printable ASCII by its hash, because a truncated id could equal
// another one.
const PLAIN_ID = /^[\x20-\x7e]{1,255}$/;

/**
 * Where any sender may name a delivery: the specification's headers, then those that senders use. They count for sources
 * whose sender isn't known.
 */
const ANY_SENDER: FieldLookup = [
  'header:webhook-id',
  'header:svix-id',
  'header:idempotency-key',
  'header:x-amz-sns-message-id',
  'header:x-atlassian-webhook-identifier',
  'header:x-gitea-delivery',
  'header:x-razorpay-event-id',
  'header:box-delivery-id',
  'header:twitch-eventsub-message-id',
  'header:upstash-message-id',
  'header:x-cloudtasks-taskname',
  // Drive and Calendar of Google count the messages of a channel, and send no body.
  ['header:x-goog-channel-id', 'header:x-goog-message-number'],
  ...SENDERS.flatMap(({ id }: Sender) =>
    id === 'any' ? [] : id.filter((way) => isHeader([way].flat()[0] ?? '')),
  ),
];

function isHeader(place: string): boolean {
  return place.startsWith('header:');
}

/**
 * Returns the sender's id of a delivery for deduplication (spec section 6, delivery rule 3), at most 255 characters. Null
 * if there is none: then the hash of the body decides.
 *
 * For each kind of source, only the place that its sender uses counts. An attacker who repeats a captured, signed
 * delivery can change every header that the signature doesn't cover. So a fresh `idempotency-key` must not turn an
 * old Stripe body into a new event, nor a `webhook-id` a message signed as `svix-*`. GitHub and others don't sign the
 * delivery's id, and `hmac_sha256` signs no header: there, the body hash detects repeats under another id.
 */
export function providerId(delivery: {
  verification: Verification;
  headers: HeaderRecord;
  payload: unknown;
}): string | null {
  const sender = senderOf(delivery.verification);
  const from = {
    headers: headersOf(sender, delivery.headers),
    url: '',
    payload: () => saidBy(delivery.payload),
  };
  const id = readingOf(sender.id === 'any' ? ANY_SENDER : sender.id, from, 'ids');
  if (id === null) return null;
  return PLAIN_ID.test(id) ? id : `sha256:${hash('sha256', id)}`;
}

/** SHA-256 of the raw body. It identifies deliveries without an id, and repeated bodies. */
export function bodyHash(body: Uint8Array): Uint8Array {
  return hash('sha256', body, 'buffer');
}
