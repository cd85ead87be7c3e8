const TAGS_MAX_CHARS = 16_000;
const SIGNED_FIELDS_MAX = 500;
const ALGORITHMS = ['rsa-sha256', 'ed25519-sha256'];
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*$/i;

/** A signature that counts if its key allows it. */
export interface Signature {
  readonly domain: string;
  /** The domain of the agent or user it was made for (`i=`). */
  readonly identityDomain: string;
  /** `b=`, without blanks. */
  readonly value: string;
  /** `h=`, in lower case. */
  readonly fields: readonly string[];
}

/** Why a signature doesn't count, in the terms of RFC 8601 section 2.7.1. */
export type Refusal = 'policy' | 'permerror';

/**
 * Reads a list of tags; null if it's malformed or repeats a tag (RFC 6376 section 3.2). This is strict because mailauth
 * allows quotes and comments there, which could hide part of a list.
 */
function readTags(list: string): ReadonlyMap<string, string> | null {
  if (list.length > TAGS_MAX_CHARS) return null;
  const tags = new Map<string, string>();
  const specs = list.split(';');
  if (specs.at(-1)?.trim() === '') specs.pop();
  for (const spec of specs) {
    const equals = spec.indexOf('=');
    const name = spec.slice(0, equals).trim();
    if (equals === -1 || !/^[a-z]\w*$/i.test(name) || tags.has(name)) return null;
    tags.set(name, spec.slice(equals + 1).trim());
  }
  return tags;
}

/** Reads a `DKIM-Signature` field as received, and decides whether it may count (RFC 6376 section 6.1.1). */
export function readSignature(line: string, now: number): Signature | Refusal {
  const tags = readTags(line.slice(line.indexOf(':') + 1).replace(/\r?\n/g, ''));
  if (tags === null || !isComplete(tags) || isExpired(tags, now)) return 'permerror';
  // A length lets anyone append unsigned text (section 8.2), and SHA-1 is broken (RFC 8301).
  if (tags.has('l') || !ALGORITHMS.includes(tags.get('a') ?? '')) return 'policy';
  const domain = (tags.get('d') ?? '').toLowerCase();
  const identity = (tags.get('i') ?? `@${domain}`).toLowerCase();
  const identityDomain = identity.slice(identity.lastIndexOf('@') + 1);
  if (identityDomain !== domain && !identityDomain.endsWith(`.${domain}`)) return 'permerror';
  const value = (tags.get('b') ?? '').replace(/\s/g, '');
  return { domain, identityDomain, value, fields: fieldsOf(tags) };
}

function isComplete(tags: ReadonlyMap<string, string>): boolean {
  const fields = fieldsOf(tags);
  const canonicalization = tags.get('c') ?? 'simple';
  return (
    tags.get('v') === '1' &&
    ['a', 'b', 'bh'].every((name) => (tags.get(name) ?? '') !== '') &&
    ['d', 's'].every((name) => DOMAIN.test(tags.get(name) ?? '')) &&
    /^(?:simple|relaxed)(?:\/(?:simple|relaxed))?$/.test(canonicalization) &&
    fields.length <= SIGNED_FIELDS_MAX &&
    fields.includes('from') &&
    (tags.get('q') ?? 'dns/txt').split(':').some((method) => method.trim() === 'dns/txt')
  );
}

function fieldsOf(tags: ReadonlyMap<string, string>): string[] {
  return (tags.get('h') ?? '').split(':').map((field) => field.trim().toLowerCase());
}

function isExpired(tags: ReadonlyMap<string, string>, now: number): boolean {
  const until = tags.get('x');
  return until !== undefined && !(/^\d{1,12}$/.test(until) && Number(until) * 1000 >= now);
}

/** Why the key's record rules out a signature that it verifies, or null (RFC 6376 section 3.6.1). */
export function keyRefusal(record: string, signature: Signature): Refusal | null {
  const tags = readTags(record);
  if (tags === null) return 'permerror';
  const listed = (name: string, otherwise: string) =>
    (tags.get(name) ?? otherwise).split(':').map((one) => one.trim());
  const services = listed('s', '*');
  if (!services.includes('*') && !services.includes('email')) return 'permerror';
  if (!listed('h', 'sha256').includes('sha256')) return 'permerror';
  const flags = listed('t', '');
  if (flags.includes('s') && signature.identityDomain !== signature.domain) return 'permerror';
  // A signature from a domain in testing mode doesn't count.
  return flags.includes('y') ? 'policy' : null;
}
