import { parseBoundedJson } from './payload.ts';
import type { HeaderRecord, Verification } from './signature.ts';

const DEFAULT_TYPE = 'webhook.received';
const TYPE_CHARS_MAX = 255;
// Control characters, line and paragraph separators, and lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * The type of a received webhook (spec section 2.1, rule 1): Stripe's own type, GitHub's event and action, and
 * `webhook.received` for all others, or if the provider's name is missing or unprintable.
 */
export function eventType(event: {
  verification: Verification;
  headers: HeaderRecord;
  payload: unknown;
}): string {
  const name = providerType(event.verification, event.headers, event.payload);
  if (name === null) return DEFAULT_TYPE;
  const type = cut(name);
  return type === '' || UNPRINTABLE.test(type) ? DEFAULT_TYPE : type;
}

function providerType(
  verification: Verification,
  headers: HeaderRecord,
  payload: unknown,
): string | null {
  if (verification === 'stripe') return ownText(payload, 'type');
  if (verification !== 'github') return null;
  const name = headers['x-github-event'];
  if (name === undefined || name === '') return null;
  const action = ownText(payload, 'action') ?? formAction(payload);
  return action === null ? name : `${name}.${action}`;
}

/** In GitHub's form encoding, the field `payload` contains the whole JSON. */
function formAction(payload: unknown): string | null {
  const inner = ownText(payload, 'payload');
  return inner === null ? null : ownText(parseBoundedJson(Buffer.from(inner)), 'action');
}

function ownText(value: unknown, name: string): string | null {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
  const member: unknown = Reflect.get(value, name);
  return typeof member === 'string' && member !== '' ? member : null;
}

function cut(text: string): string {
  const short = text.slice(0, TYPE_CHARS_MAX);
  // The cut may split a surrogate pair: drop the half. Lone surrogates elsewhere make the type unprintable.
  return short.length < text.length ? short.replace(/[\ud800-\udbff]$/, '') : short;
}

/** True for an exact pattern or one that ends in `*`: a `*` anywhere else would never match. */
export function isPattern(text: string): boolean {
  const star = text.indexOf('*');
  return star === -1 || star === text.length - 1;
}

/** Whether a type matches a pattern, which is exact or ends in `*`. Without a pattern, every type matches. */
export function matchesType(pattern: string | null | undefined, type: string): boolean {
  if (pattern === null || pattern === undefined) return true;
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
