import {
  TOLERANCE_SECONDS,
  type HeaderRecord,
  type Verification,
} from '../../shared/rules/signature.ts';

/** The headers in which each provider puts its signature, and its signing time if it sends one. */
const HEADERS: Readonly<Record<Verification, readonly string[]>> = {
  none: [],
  stripe: ['stripe-signature'],
  github: ['x-hub-signature-256'],
  hmac_sha256: [],
  standard_webhooks: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
};

/** Guesses why a delivery's signature is invalid, for the owner's log; the sender never sees it. */
export function signatureProblem(delivery: {
  readonly verification: Verification;
  readonly signatureHeader: string | null;
  readonly headers: HeaderRecord;
  readonly nowMs: number;
}): string {
  const { verification, signatureHeader, headers, nowMs } = delivery;
  const wanted =
    verification === 'hmac_sha256' && signatureHeader ? [signatureHeader] : HEADERS[verification];
  const missing = wanted.filter((name) => !present(headers, name));
  if (missing.length > 0) return `it has no header ${missing.join(', ')}`;
  const signedAt = timestampOf(verification, headers);
  if (signedAt !== null) {
    const behind = Math.floor(nowMs / 1000) - signedAt;
    if (!(Math.abs(behind) <= TOLERANCE_SECONDS)) return `it was signed ${ageOf(behind)}`;
  }
  return 'its signature was made with another secret, or for another body';
}

function present(headers: HeaderRecord, name: string): boolean {
  if (Object.hasOwn(headers, name)) return true;
  return name.startsWith('webhook-') && Object.hasOwn(headers, name.replace('webhook-', 'svix-'));
}

function timestampOf(verification: Verification, headers: HeaderRecord): number | null {
  if (verification === 'stripe') {
    return Number(/(?:^|,)\s*t=(\d{1,11})(?:,|$)/.exec(headers['stripe-signature'] ?? '')?.[1]);
  }
  if (verification !== 'standard_webhooks') return null;
  return Number(headers['webhook-timestamp'] ?? headers['svix-timestamp']);
}

function ageOf(behindSeconds: number): string {
  if (Number.isNaN(behindSeconds)) return 'at no time that can be read';
  return behindSeconds > 0
    ? `${behindSeconds} s ago, and ${TOLERANCE_SECONDS} s is the most that is accepted`
    : `${-behindSeconds} s in the future: one of the two clocks is wrong`;
}
