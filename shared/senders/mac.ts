import { createHmac } from 'node:crypto';
import { textsIn } from './places.ts';
import type { MacProof, Place, SignedPart } from './sender.ts';

const STANDARD_KEY_MIN_BYTES = 16;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function macSize(hash: MacProof['hash']): number {
  return hash === 'sha1' ? 20 : 32;
}

/** The HMAC of a content; null if the secret isn't a key. */
export function macOf(
  { hash, key = 'text' }: MacProof,
  secret: string,
  content: string | Uint8Array,
): Buffer | null {
  const bytes = keyOf(key, secret);
  return bytes && createHmac(hash, bytes).update(content).digest();
}

/** The key that a secret writes; null if it writes none. */
export function keyOf(form: NonNullable<MacProof['key']>, secret: string): Buffer | null {
  if (form === 'text') return Buffer.from(secret);
  if (form === 'hex') {
    const isHex = secret.length % 2 === 0 && /^[0-9a-fA-F]{32,}$/.test(secret);
    return isHex ? Buffer.from(secret, 'hex') : null;
  }
  return standardKey(secret);
}

/** The key of a Standard Webhooks secret; null if it isn't base64 of at least 16 bytes. */
function standardKey(secret: string): Buffer | null {
  // Some senders show the secret with the version of the signature before it.
  const text = secret.replace(/^v1,/, '').replace(/^whsec_/, '');
  // Node skips characters that aren't base64, which could leave almost no key.
  if (!BASE64.test(text) || text.replace(/=+$/, '').length % 4 === 1) return null;
  if (text.endsWith('=') && text.length % 4 !== 0) return null;
  const key = Buffer.from(text, 'base64');
  return key.length >= STANDARD_KEY_MIN_BYTES ? key : null;
}

/** What a sender signs; null if the request lacks a part of it, or a part could pass as the next one too. */
export function contentBytes(
  content: MacProof['content'],
  request: SignedPart,
  time: string,
): Buffer | null {
  if (typeof content !== 'string') {
    const text = content(request);
    return text === null ? null : Buffer.from(text);
  }
  const pieces: (string | Uint8Array)[] = [];
  // Every second one is the name of a hole.
  const split = content.split(/\{([^}]+)\}/);
  for (const [at, piece] of split.entries()) {
    const value = at % 2 === 0 ? piece : filled(piece, request, time);
    const next = split[at + 1] ?? '';
    if (value === null) return null;
    if (at % 2 === 1 && typeof value === 'string' && next !== '' && value.includes(next))
      return null;
    pieces.push(value);
  }
  return Buffer.concat(pieces.map((one) => (typeof one === 'string' ? Buffer.from(one) : one)));
}

function filled(hole: string, request: SignedPart, time: string): string | Uint8Array | null {
  switch (hole) {
    case 'body':
      return request.body;
    case 'time':
      return time;
    case 'url':
      return request.url;
    case 'method':
      return request.method;
    default:
      return textsIn(hole as Place, request)[0] ?? null;
  }
}
