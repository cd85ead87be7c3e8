import { randomBytes, randomInt, randomUUID } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A delivery as its sender would build it, before signing. */
export interface Sample {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Record<string, unknown> | unknown[];
}

/** A webhook that `svc trigger` can send. */
export interface WebhookKind<Name extends string = string> {
  /** `github.push` */
  readonly kind: string;
  /** Whose it is; null if any source accepts it. */
  readonly verification: Name | null;
  readonly summary: string;
  readonly build: () => Sample;
}

export function hex(chars: number): string {
  return randomBytes(Math.ceil(chars / 2))
    .toString('hex')
    .slice(0, chars);
}

/** An id as Stripe writes it: a prefix and 24 characters. */
export function stripeId(prefix: string): string {
  let text = `${prefix}_`;
  while (text.length < prefix.length + 25) text += BASE62.charAt(randomInt(62));
  return text;
}

export function uuid(): string {
  return randomUUID();
}

/** A large random number, like providers' ids. */
export function numericId(): number {
  return randomInt(1_000_000_000, 4_000_000_000);
}

/** `2026-01-02T03:04:05Z`, some seconds ago. */
export function isoSeconds(secondsAgo = 0): string {
  return new Date(Date.now() - secondsAgo * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function unixSeconds(secondsAgo = 0): number {
  return Math.floor(Date.now() / 1000) - secondsAgo;
}

/** A date header for mail (RFC 5322 section 3.3), some seconds ago. */
export function mailDate(secondsAgo = 0): string {
  return new Date(Date.now() - secondsAgo * 1000).toUTCString().replace('GMT', '+0000');
}
