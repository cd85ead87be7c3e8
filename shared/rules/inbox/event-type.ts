import { headersOf } from '../../senders/proof.ts';
import { readingOf } from '../../senders/places.ts';
import { senderOf, type Verification } from '../../senders/registry.ts';
import type { HeaderRecord } from '../../senders/sender.ts';
import { saidBy } from '../payload/payload.ts';

const DEFAULT_TYPE = 'webhook.received';
const TYPE_CHARS_MAX = 255;
// Control characters, line and paragraph separators, and lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * The type of a received webhook (spec section 2.1, rule 1): the sender's own where its declaration says where that is,
 * and `webhook.received` for all others, or if the sender's name is missing or unprintable.
 */
export function eventType(event: {
  verification: Verification;
  headers: HeaderRecord;
  payload: unknown;
}): string {
  const sender = senderOf(event.verification);
  const headers = headersOf(sender, event.headers);
  const payload = saidBy(event.payload);
  const name = readingOf(sender.type, { headers, url: '', payload: () => payload }, 'name');
  if (name === null) return DEFAULT_TYPE;
  const type = cut(name);
  return type === '' || UNPRINTABLE.test(type) ? DEFAULT_TYPE : type;
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
