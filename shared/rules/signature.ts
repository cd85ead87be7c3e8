import { createHmac, timingSafeEqual } from 'node:crypto';

/** Header values by lower-case name. Records from `headerRecord` have no prototype. */
export type HeaderRecord = Readonly<Record<string, string>>;

/** How the signature of an inbound webhook is checked. */
export type Verification = 'none' | 'stripe' | 'github' | 'hmac_sha256' | 'standard_webhooks';

const DEFAULT_SIGNATURE_HEADER = 'x-signature';
/** How far a signature's timestamp may differ from now. */
export const TOLERANCE_SECONDS = 300;
const SHA256_BYTES = 32;
const STANDARD_KEY_MIN_BYTES = 16;
const SECRET_CHARS_MAX = 1024;

const HEX_SHA256 = /^[0-9a-fA-F]{64}$/;
const BASE64_SHA256 = /^[A-Za-z0-9+/]{43}=$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const UNIX_SECONDS = /^\d{1,11}$/;

interface Delivery {
  headers: HeaderRecord;
  signatureHeader: string;
  body: Uint8Array;
  nowSeconds: number;
}

/**
 * Whether one of the secrets (several during rotation) signed the raw body, in constant time. Always false for `none`,
 * which checks nothing: accept those deliveries as unverified. Timestamps of Stripe and Standard Webhooks may differ
 * from now by up to 300 s, inclusive.
 */
export function verifySignature(delivery: {
  verification: Verification;
  secrets: readonly string[];
  /** The header for `hmac_sha256` (default `x-signature`). */
  signatureHeader?: string | null | undefined;
  headers: HeaderRecord;
  body: Uint8Array;
  nowMs: number;
}): boolean {
  const check = {
    headers: delivery.headers,
    signatureHeader: (delivery.signatureHeader ?? DEFAULT_SIGNATURE_HEADER).toLowerCase(),
    body: delivery.body,
    nowSeconds: Math.floor(delivery.nowMs / 1000),
  };
  // Everybody knows an empty key.
  const secrets = delivery.secrets.filter((secret) => secret !== '');
  switch (delivery.verification) {
    case 'stripe':
      return verifyStripe(check, secrets);
    case 'github':
      return verifyGithub(check, secrets);
    case 'hmac_sha256':
      return verifyHmac(check, secrets);
    case 'standard_webhooks':
      return verifyStandard(check, secrets);
    case 'none':
      break;
  }
  return false;
}

/** `stripe-signature: t=<seconds>,v1=<hex>[,v1=<hex>]` over `t.body`; the secret is used as given. */
function verifyStripe(delivery: Delivery, secrets: readonly string[]): boolean {
  let timestamp: string | null = null;
  const signatures: string[] = [];
  for (const part of header(delivery.headers, 'stripe-signature').split(',')) {
    const item = part.trim();
    if (item.startsWith('v1=')) signatures.push(item.slice(3));
    if (!item.startsWith('t=')) continue;
    if (timestamp !== null) return false;
    timestamp = item.slice(2);
  }
  if (timestamp === null || !isFresh(timestamp, delivery.nowSeconds)) return false;
  return anySigned(secrets, signatures.map(fromHex), [`${timestamp}.`, delivery.body]);
}

/** `x-hub-signature-256: sha256=<hex>` over the body. Ignores GitHub's additional SHA-1 header. */
function verifyGithub(delivery: Delivery, secrets: readonly string[]): boolean {
  const value = header(delivery.headers, 'x-hub-signature-256');
  if (!value.startsWith('sha256=')) return false;
  return anySigned(secrets, [fromHex(value.slice('sha256='.length))], [delivery.body]);
}

/** Hex or padded base64 in the configured header, with or without the prefix `sha256=`. */
function verifyHmac(delivery: Delivery, secrets: readonly string[]): boolean {
  const value = header(delivery.headers, delivery.signatureHeader)
    .replace(/^sha256=/i, '')
    .trim();
  return anySigned(secrets, [fromHex(value) ?? fromBase64(value)], [delivery.body]);
}

/** Standard Webhooks: `v1,<base64>` items, separated by spaces, over `id.timestamp.body`. */
function verifyStandard(delivery: Delivery, secrets: readonly string[]): boolean {
  const signed = standardHeaders(delivery.headers);
  if (signed === null || !isFresh(signed.timestamp, delivery.nowSeconds)) return false;
  const signatures = signed.signature
    .split(' ')
    .map((item) => (item.startsWith('v1,') ? fromBase64(item.slice(3)) : null));
  const keys = secrets.map(standardKey).filter((key) => key !== null);
  return anySigned(keys, signatures, [`${signed.id}.${signed.timestamp}.`, delivery.body]);
}

/**
 * The headers that Standard Webhooks signs, all from one family: `webhook-*`, else its alias `svix-*`. Null if neither
 * family is complete, or if the id contains a dot: part of it could then pass as the timestamp.
 */
export function standardHeaders(
  headers: HeaderRecord,
): { id: string; timestamp: string; signature: string } | null {
  for (const family of ['webhook', 'svix']) {
    const id = header(headers, `${family}-id`);
    const timestamp = header(headers, `${family}-timestamp`);
    const signature = header(headers, `${family}-signature`);
    if (id !== '' && timestamp !== '' && signature !== '') {
      return id.includes('.') ? null : { id, timestamp, signature };
    }
  }
  return null;
}

function header(headers: HeaderRecord, name: string): string {
  // A configured name may be `constructor`, and a caller's record may have a prototype.
  return Object.hasOwn(headers, name) ? (headers[name] ?? '').trim() : '';
}

function isFresh(timestamp: string, nowSeconds: number): boolean {
  return (
    UNIX_SECONDS.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= TOLERANCE_SECONDS
  );
}

function fromHex(text: string): Buffer | null {
  return HEX_SHA256.test(text) ? Buffer.from(text, 'hex') : null;
}

function fromBase64(text: string): Buffer | null {
  return BASE64_SHA256.test(text) ? Buffer.from(text, 'base64') : null;
}

/** The HMAC key of a Standard Webhooks secret, or null if it isn't base64 of at least 16 bytes. */
function standardKey(secret: string): Buffer | null {
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  // Node skips characters that aren't base64, which could leave almost no key.
  if (!BASE64.test(text) || text.replace(/=+$/, '').length % 4 === 1) return null;
  if (text.endsWith('=') && text.length % 4 !== 0) return null;
  const key = Buffer.from(text, 'base64');
  return key.length >= STANDARD_KEY_MIN_BYTES ? key : null;
}

type Key = string | Buffer;
type Content = readonly (string | Uint8Array)[];

function hmac(key: Key, content: Content): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of content) mac.update(part);
  return mac.digest();
}

function anySigned(
  keys: readonly Key[],
  signatures: readonly (Buffer | null)[],
  content: Content,
): boolean {
  const given = signatures.filter((signature) => signature !== null);
  // Without a well-formed signature, don't spend time on hashing the body.
  if (given.length === 0) return false;
  let matched = false;
  for (const key of keys) {
    const expected = hmac(key, content);
    for (const signature of given) {
      if (signature.length === SHA256_BYTES && timingSafeEqual(signature, expected)) matched = true;
    }
  }
  return matched;
}

/**
 * The headers with which a provider of this kind would sign the body; empty for `none`. Only Standard Webhooks uses
 * `id`, which must not contain a dot. Throws TypeError for a secret that `checkSecret` refuses.
 */
export function signWebhook(delivery: {
  verification: Verification;
  secret: string;
  signatureHeader?: string | null | undefined;
  id: string;
  body: Uint8Array;
  nowMs: number;
}): Record<string, string> {
  const { verification, secret, id, body } = delivery;
  const problem = checkSecret(verification, secret);
  if (problem !== null) throw new TypeError(problem);
  const seconds = String(Math.floor(delivery.nowMs / 1000));
  switch (verification) {
    case 'stripe': {
      const signature = hmac(secret, [`${seconds}.`, body]).toString('hex');
      return { 'stripe-signature': `t=${seconds},v1=${signature}` };
    }
    case 'github':
      return { 'x-hub-signature-256': `sha256=${hmac(secret, [body]).toString('hex')}` };
    case 'hmac_sha256': {
      const name = (delivery.signatureHeader ?? DEFAULT_SIGNATURE_HEADER).toLowerCase();
      return { [name]: `sha256=${hmac(secret, [body]).toString('hex')}` };
    }
    case 'standard_webhooks':
      return signStandard(standardKey(secret) ?? '', id, seconds, body);
    case 'none':
      break;
  }
  return {};
}

function signStandard(
  key: Key,
  id: string,
  seconds: string,
  body: Uint8Array,
): Record<string, string> {
  if (id === '' || id.includes('.')) throw new TypeError('The webhook id is empty or holds a dot.');
  const signature = hmac(key, [`${id}.${seconds}.`, body]).toString('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${signature}`,
  };
}

/** What's wrong with a secret for this verification, as a sentence; null if it's fine. */
export function checkSecret(verification: Verification, secret: string): string | null {
  if (verification === 'none') return null;
  if (secret === '') return 'The secret is empty.';
  if (secret.trim() !== secret) return 'The secret begins or ends with white space.';
  if (secret.length > SECRET_CHARS_MAX) {
    return `The secret is longer than ${SECRET_CHARS_MAX} characters.`;
  }
  if (verification === 'standard_webhooks' && standardKey(secret) === null) {
    return `The secret must be base64 of at least ${STANDARD_KEY_MIN_BYTES} bytes, after an optional whsec_.`;
  }
  return null;
}

/** Headers in which providers send signatures; events are stored without them. */
export const SIGNATURE_HEADERS: readonly string[] = [
  'signature',
  'signature-input',
  'stripe-signature',
  'webhook-signature',
  'svix-signature',
  'x-hub-signature',
  'x-hub-signature-256',
  'x-signature',
  'x-signature-256',
  'x-signature-sha256',
  'x-signature-ed25519',
  'x-webhook-signature',
  'x-webhook-signature-256',
  'x-hook-signature',
  'x-request-signature',
  'x-cal-signature-256',
  'x-cc-webhook-signature',
  'x-discourse-event-signature',
  'x-docusign-signature-1',
  'x-docusign-signature-2',
  'x-event-signature',
  'x-gitea-signature',
  'x-gogs-signature',
  'x-hubspot-signature-v3',
  'x-mandrill-signature',
  'x-shopify-hmac-sha256',
  'x-square-hmacsha256-signature',
  'x-twilio-email-event-webhook-signature',
  'x-xero-signature',
  'paypal-transmission-sig',
  'telnyx-signature-ed25519',
];
