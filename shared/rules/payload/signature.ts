import { keyOf } from '../../senders/mac.ts';
import { headersAmong, headerOf, placeText } from '../../senders/places.ts';
import { proofProblem, publicKey, type ProofProblem } from '../../senders/proof.ts';
import { SENDERS, senderOf, type Verification } from '../../senders/registry.ts';
import type { HeaderRecord, Sender, SignedRequest } from '../../senders/sender.ts';
import { signDelivery, type SignedDelivery } from '../../senders/sign.ts';
import { parsePayload, saidBy } from './payload.ts';

const SECRET_CHARS_MAX = 1024;

/** A received delivery, as far as its signature is about it. */
export interface ReceivedDelivery {
  readonly verification: Verification;
  readonly secrets: readonly string[];
  /** The header for `hmac_sha256` (default `x-signature`). */
  readonly signatureHeader?: string | null | undefined;
  readonly headers: HeaderRecord;
  readonly body: Uint8Array;
  /** The source's address with the query of the request, for senders that sign it. */
  readonly url?: string;
  /** The parsed body, if it's read already. */
  readonly payload?: () => unknown;
  readonly certificate?: string | null;
  readonly nowMs: number;
}

/**
 * Whether one of the secrets (several during rotation) proves the delivery, in constant time. Always false for senders
 * that prove nothing: accept those deliveries as unverified.
 */
export function verifySignature(delivery: ReceivedDelivery): boolean {
  const { proof } = senderOf(delivery.verification);
  return proof.kind !== 'none' && deliveryProblem(delivery) === null;
}

/** Why a delivery isn't proved; null if it is, or if its sender proves nothing. */
export function deliveryProblem(delivery: ReceivedDelivery): ProofProblem | null {
  const { verification, signatureHeader, secrets, nowMs, ...request } = delivery;
  return proofProblem(configured(verification, signatureHeader), requestOf(request), {
    secrets,
    nowMs,
  });
}

function requestOf(
  request: Pick<ReceivedDelivery, 'headers' | 'body' | 'url' | 'payload' | 'certificate'>,
): SignedRequest {
  const { headers, body, url = '', certificate = null } = request;
  const payload = request.payload ?? (() => read(headerOf(headers, 'content-type'), body));
  return { method: 'POST', url, headers, body, payload, certificate };
}

function read(contentType: string | undefined, body: Uint8Array): unknown {
  return saidBy(parsePayload(contentType, body).value);
}

/** The sender, with the header that the source names for it. */
function configured(verification: Verification, header: string | null | undefined): Sender {
  const sender = senderOf(verification);
  const { proof } = sender;
  if (verification !== 'hmac_sha256' || !header || proof.kind !== 'mac') return sender;
  return { ...sender, proof: { ...proof, signature: [`header:${header.toLowerCase()}`] } };
}

/** What's wrong, as the end of a sentence about the delivery that quotes nothing of it. */
export function problemText(problem: ProofProblem): string {
  switch (problem.kind) {
    case 'missing': {
      const headers = headersAmong(problem.places);
      const others = problem.places.filter((place) => !place.startsWith('header:'));
      const named = headers.length > 0 ? [`header ${headers.join(', ')}`] : [];
      return `it has no ${[...named, ...others.map(placeText)].join(', and no ')}`;
    }
    case 'stale':
      return `it was signed ${ageText(problem)}`;
    case 'wrong':
      return 'its signature was made with another secret, or for another body';
  }
}

function ageText({ behindSeconds, toleranceSeconds }: ProofProblem & { kind: 'stale' }): string {
  if (Number.isNaN(behindSeconds)) return 'at no time that can be read';
  return behindSeconds > 0
    ? `${behindSeconds} s ago, and ${toleranceSeconds} s is the most that is accepted`
    : `${-behindSeconds} s in the future: one of the two clocks is wrong`;
}

interface DeliveryInput {
  readonly verification: Verification;
  readonly secret: string;
  readonly signatureHeader?: string | null | undefined;
  /** The source's address, for senders that sign it. */
  readonly url?: string;
  /** The delivery's id, where it's signed; it must not contain a dot. */
  readonly id: string;
  readonly contentType?: string;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

/**
 * The delivery as the sender would send it. Throws TypeError for a secret that `checkSecret` refuses, for senders that
 * only sign themselves, and for a body with no place for a signature that belongs into it.
 */
export function signedDelivery(delivery: DeliveryInput): SignedDelivery {
  const {
    verification,
    signatureHeader,
    secret,
    id,
    body,
    nowMs,
    url = '',
    contentType,
  } = delivery;
  const problem = checkSecret(verification, secret);
  if (problem !== null) throw new TypeError(problem);
  const payload = (): unknown => read(contentType, body);
  return signDelivery(configured(verification, signatureHeader), {
    secret,
    id,
    body,
    nowMs,
    url,
    payload,
  });
}

/** The headers with which a sender of this kind would sign the body; empty for `none`. */
export function signWebhook(delivery: DeliveryInput): Record<string, string> {
  return { ...signedDelivery(delivery).headers };
}

/** What's wrong with a secret for this verification, as a sentence; null if it's fine. */
export function checkSecret(verification: Verification, secret: string): string | null {
  const { proof } = senderOf(verification);
  if (proof.kind === 'none') return null;
  if (secret === '') return 'The secret is empty.';
  if (secret.trim() !== secret) return 'The secret begins or ends with white space.';
  if (secret.length > SECRET_CHARS_MAX) {
    return `The secret is longer than ${SECRET_CHARS_MAX} characters.`;
  }
  if (proof.kind === 'public_key') {
    const isKey = proof.key !== 'secret' || publicKey(secret) !== null;
    return isKey ? null : 'The secret must be the public key that the sender shows, in base64.';
  }
  if (proof.kind !== 'mac' || keyOf(proof.key ?? 'text', secret) !== null) return null;
  return proof.key === 'hex'
    ? 'The secret must be in hex, of at least 16 bytes.'
    : 'The secret must be base64 of at least 16 bytes, after an optional whsec_.';
}

/** The headers in which senders put what proves them; events are stored without them. */
export const PROOF_HEADERS: ReadonlySet<string> = new Set(
  SENDERS.flatMap(({ proof }: Sender) => {
    if (proof.kind === 'none') return [];
    return headersAmong(proof.kind === 'shared_secret' ? [proof.at] : proof.signature);
  }),
);
