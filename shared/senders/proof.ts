import {
  createHash,
  createPublicKey,
  timingSafeEqual,
  verify,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { contentBytes, macOf, macSize } from './mac.ts';
import { headerOf, headersAmong, textsIn, timePlaces, valuesAt } from './places.ts';
import type {
  HeaderRecord,
  MacProof,
  Place,
  PublicKeyProof,
  Sender,
  SharedSecretProof,
  SignedRequest,
  SigningTime,
} from './sender.ts';

/** Why a delivery isn't proved. */
export type ProofProblem =
  | { readonly kind: 'missing'; readonly places: readonly Place[] }
  /** NaN: it can't be read. Negative: in the future. */
  | {
      readonly kind: 'stale';
      readonly behindSeconds: number;
      readonly toleranceSeconds: number;
    }
  | { readonly kind: 'wrong' };

type SignedProof = MacProof | PublicKeyProof;

const WRONG: ProofProblem = { kind: 'wrong' };

/**
 * Why this request isn't the sender's, in constant time; null if it is, or if the sender proves nothing. Any of the
 * secrets may have been used.
 */
export function proofProblem(
  sender: Sender,
  request: SignedRequest,
  { secrets, nowMs }: { readonly secrets: readonly string[]; readonly nowMs: number },
): ProofProblem | null {
  const { proof } = sender;
  if (proof.kind === 'none') return null;
  const seen = { ...request, headers: headersOf(sender, request.headers) };
  // Everybody knows an empty key.
  const held = secrets.filter((secret) => secret !== '');
  const parts = proof.each === undefined ? [undefined] : valuesAt(seen.payload(), proof.each);
  if (parts.length === 0) return { kind: 'missing', places: [`body:${proof.each ?? ''}`] };
  for (const part of parts) {
    const one = part === undefined ? seen : { ...seen, payload: () => part };
    const problem =
      proof.kind === 'shared_secret'
        ? sharedProblem(proof, one, held)
        : signedProblem(proof, one, { secrets: held, nowMs, part });
    if (problem !== null) return problem;
  }
  return null;
}

/** The headers under the names that the declaration uses: a sender may have others, and then all are under those. */
export function headersOf(sender: Sender, headers: HeaderRecord): HeaderRecord {
  const { alias, proof } = sender;
  if (!alias || proof.kind === 'none') return headers;
  const [from, to] = alias;
  const needed = headersAmong(neededPlaces(sender)).filter((name) => name.startsWith(to));
  const other = (name: string): string => from + name.slice(to.length);
  if (needed.every((name) => headerOf(headers, name) !== '')) return headers;
  if (!needed.every((name) => headerOf(headers, other(name)) !== '')) return headers;
  return {
    ...headers,
    ...Object.fromEntries(needed.map((name) => [name, headers[other(name)] ?? ''])),
  };
}

/** The places without which nothing is proved. */
function neededPlaces({ proof }: Sender): readonly Place[] {
  if (proof.kind === 'none') return [];
  if (proof.kind === 'shared_secret') return [proof.at];
  const places = new Set<Place>();
  if (typeof proof.content === 'string') {
    for (const [, name = ''] of proof.content.matchAll(/\{([a-z]+:[^}]+)\}/g))
      places.add(name as Place);
  }
  return [...places, ...firstPlaces(proof)];
}

function sharedProblem(
  { at, form }: SharedSecretProof,
  request: SignedRequest,
  secrets: readonly string[],
): ProofProblem | null {
  const [text] = textsIn(at, request);
  if (text === undefined) return { kind: 'missing', places: [at] };
  const given = form === 'basic' ? basicPassword(text) : text;
  let matched = false;
  for (const secret of secrets) if (isSame(given, secret)) matched = true;
  return matched ? null : WRONG;
}

/** The password of HTTP basic authentication (RFC 7617); anything else is none. */
function basicPassword(text: string): string {
  const encoded = /^basic +([A-Za-z0-9+/=]+)$/i.exec(text)?.[1] ?? '';
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const at = decoded.indexOf(':');
  return at === -1 ? '' : decoded.slice(at + 1);
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digestOf(one), digestOf(other));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

interface Check {
  readonly secrets: readonly string[];
  readonly nowMs: number;
  readonly part: unknown;
}

function signedProblem(
  proof: SignedProof,
  request: SignedRequest,
  { secrets, nowMs, part }: Check,
): ProofProblem | null {
  const items = proof.signature.flatMap((place) =>
    textsIn(place, request).flatMap((text) => (proof.split ? text.split(proof.split) : [text])),
  );
  if (items.length === 0) return missingOf(proof, request);
  const signedAt = proof.time ? timeOf(proof.time, items, request) : '';
  if (signedAt === null) return missingOf(proof, request);
  const stale = proof.time && staleness(proof.time, signedAt, nowMs);
  if (stale) return stale;
  const signatures = items.flatMap((item) => signatureOf(proof, item.trim()));
  // Without a well-formed signature, don't spend time on hashing the body.
  if (signatures.length === 0) return WRONG;
  let matched = false;
  for (const secret of secrets) {
    const content = contentBytes(proof.content, { ...request, part, secret }, signedAt);
    if (content && isSigned(proof, { request, secret, content, signatures, nowMs })) matched = true;
  }
  return matched ? null : WRONG;
}

function missingOf(proof: SignedProof, request: SignedRequest): ProofProblem {
  const missing = firstPlaces(proof).filter((place) => textsIn(place, request).length === 0);
  return missing.length > 0 ? { kind: 'missing', places: missing } : WRONG;
}

/** Where the time and the signature stand, unless they have other places. */
function firstPlaces({ time, signature }: SignedProof): Place[] {
  return [...(time ? timePlaces(time).slice(0, 1) : []), ...signature.slice(0, 1)];
}

/** The time as written; null if it's missing or said twice. */
function timeOf(
  time: SigningTime,
  items: readonly string[],
  request: SignedRequest,
): string | null {
  const { at } = time;
  if (typeof at !== 'string' || !at.startsWith('item:')) {
    return timePlaces(time).flatMap((place) => textsIn(place, request))[0] ?? null;
  }
  const lead = at.slice('item:'.length);
  const times = items.map((item) => item.trim()).filter((item) => item.startsWith(lead));
  return times.length === 1 ? (times[0] ?? '').slice(lead.length) : null;
}

const WRITTEN = {
  seconds: /^\d{1,11}$/,
  milliseconds: /^\d{1,14}$/,
  iso: /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/,
} as const;

/** When a delivery says it was signed, in milliseconds; NaN if it can't be read. */
function signedAtMs({ unit }: SigningTime, text: string): number {
  if (!WRITTEN[unit].test(text)) return Number.NaN;
  if (unit === 'iso') return Date.parse(text);
  return unit === 'seconds' ? Number(text) * 1000 : Number(text);
}

function staleness(time: SigningTime, text: string, nowMs: number): ProofProblem | null {
  const { toleranceSeconds } = time;
  const behindSeconds = Math.floor(nowMs / 1000) - Math.floor(signedAtMs(time, text) / 1000);
  const isFresh = Math.abs(behindSeconds) <= toleranceSeconds;
  return isFresh ? null : { kind: 'stale', behindSeconds, toleranceSeconds };
}

/** The signature in an item; none if it isn't well-formed. */
function signatureOf(proof: SignedProof, item: string): Buffer[] {
  const lead = proof.prefix ?? '';
  if (!item.startsWith(lead)) return [];
  const text = item.slice(lead.length);
  if (proof.kind === 'mac') return macIn(proof, text);
  return /^[A-Za-z0-9+/]{24,1400}={0,2}$/.test(text) ? [Buffer.from(text, 'base64')] : [];
}

function macIn({ hash, encoding }: MacProof, text: string): Buffer[] {
  const size = macSize(hash);
  const isEither = encoding === 'hex_or_base64';
  const bare = isEither ? text.replace(/^sha256=/i, '').trim() : text;
  const isHex = bare.length === size * 2 && /^[0-9a-fA-F]+$/.test(bare);
  if (isHex && encoding !== 'base64') return [Buffer.from(bare, 'hex')];
  const isBase64 = bare.length === Math.ceil(size / 3) * 4 && /^[A-Za-z0-9+/]+={1,2}$/.test(bare);
  const decoded = isBase64 && encoding !== 'hex' ? Buffer.from(bare, 'base64') : null;
  return decoded?.length === size ? [decoded] : [];
}

interface Signature {
  readonly request: SignedRequest;
  readonly secret: string;
  readonly content: Buffer;
  readonly signatures: readonly Buffer[];
  readonly nowMs: number;
}

function isSigned(
  proof: SignedProof,
  { request, secret, content, signatures, nowMs }: Signature,
): boolean {
  if (proof.kind === 'public_key') {
    const { certificate = null } = request;
    const key = proof.key === 'secret' ? publicKey(secret) : certifiedKey(certificate, nowMs);
    return key !== null && signatures.some((one) => verify('sha256', content, key, one));
  }
  const expected = macOf(proof, secret, content);
  if (expected === null) return false;
  let matched = false;
  for (const one of signatures) if (timingSafeEqual(one, expected)) matched = true;
  return matched;
}

/** A public key in base64 (SPKI); null if it is none. */
export function publicKey(text: string): KeyObject | null {
  try {
    const der = Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64');
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

/**
 * The key of a certificate (PEM) that is valid now; otherwise null. Its chain isn't checked: it came from the sender's own
 * host, and that host's chain was.
 */
function certifiedKey(pem: string | null, nowMs: number): KeyObject | null {
  try {
    const certificate = pem === null ? null : new X509Certificate(pem);
    const isValid =
      certificate !== null &&
      nowMs >= Date.parse(certificate.validFrom) &&
      nowMs <= Date.parse(certificate.validTo);
    return isValid ? certificate.publicKey : null;
  } catch {
    return null;
  }
}
