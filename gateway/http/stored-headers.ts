import { PROOF_HEADERS } from '../../shared/rules/payload/signature.ts';
import type { HeaderRecord } from '../../shared/senders/sender.ts';

/** The limit for names and values together. It doesn't rely on Node's own limit of 16 KiB per request. */
const STORED_CHARS_MAX = 32_768;

const CREDENTIAL_HEADERS: readonly string[] = [
  'authorization',
  'authentication',
  'proxy-authorization',
  'x-authorization',
  'x-forwarded-authorization',
  'x-original-authorization',
  'cookie',
  'cookie2',
  'set-cookie',
  'api-key',
  'apikey',
  'token',
  'x-api-key',
  'x-apikey',
  'x-auth',
  'x-auth-key',
  'x-token',
  'x-secret',
  'x-secret-key',
  'x-password',
  'x-functions-key',
  'x-master-key',
  'x-parse-master-key',
  'x-rapidapi-key',
  'ocp-apim-subscription-key',
  'cf-access-jwt-assertion',
  'x-goog-iap-jwt-assertion',
  'x-jwt-assertion',
  'x-amzn-oidc-accesstoken',
  'x-amzn-oidc-data',
];

/** Such as `x-gitlab-token`, `x-amz-security-token`, `cf-webhook-auth` or `x-hook-secret`. */
const CREDENTIAL_ENDINGS: readonly string[] = [
  '-token',
  '-secret',
  '-password',
  '-api-key',
  '-apikey',
  '-access-key',
  '-auth',
  '-authorization',
  '-credential',
  '-credentials',
  '-jwt',
  '-sig',
];

/** Such as `x-shopify-hmac-sha256` or `x-hubspot-signature-v3`. */
const SIGNATURE_WORDS: readonly string[] = ['signature', 'hmac'];

const DROPPED: ReadonlySet<string> = new Set([...CREDENTIAL_HEADERS, ...PROOF_HEADERS]);

/** Returns all headers from Node's `rawHeaders` (name, value, name, value, …), with repeats joined. */
export function headerRecord(rawHeaders: readonly string[]): HeaderRecord {
  const record = emptyRecord();
  for (const [name, value] of pairs(rawHeaders)) append(record, name, value);
  return record;
}

/**
 * Returns the headers to store with an event, without credentials, signatures and `extraDropped` (the signature
 * header that the source is configured with). It leaves out headers beyond 32 K characters in total.
 */
export function storedHeaders(
  rawHeaders: readonly string[],
  extraDropped: readonly string[],
): HeaderRecord {
  const extra = new Set(extraDropped.map((name) => name.toLowerCase()));
  const record = emptyRecord();
  let chars = 0;
  for (const [name, value] of pairs(rawHeaders)) {
    if (extra.has(name) || isCredential(name)) continue;
    chars += name.length + value.length + 2;
    if (chars > STORED_CHARS_MAX) break;
    append(record, name, value);
  }
  return record;
}

function isCredential(name: string): boolean {
  return (
    DROPPED.has(name) ||
    CREDENTIAL_ENDINGS.some((ending) => name.endsWith(ending)) ||
    SIGNATURE_WORDS.some((word) => name.includes(word))
  );
}

function* pairs(rawHeaders: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    yield [(rawHeaders[i] ?? '').toLowerCase(), rawHeaders[i + 1] ?? ''];
  }
}

function emptyRecord(): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  return record;
}

function append(record: Record<string, string>, name: string, value: string): void {
  const before = record[name];
  record[name] = before === undefined ? value : `${before}, ${value}`;
}
