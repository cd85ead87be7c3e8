import { ECDH, hash } from 'node:crypto';
import { invalid } from '../../../shared/lib/errors.ts';

/** Where a browser takes pushes, and the keys that only it can open them with. All are base64url but the address. */
export interface PushSubscription {
  readonly endpoint: string;
  /** Its public key, an uncompressed point of P-256. */
  readonly p256dh: string;
  readonly auth: string;
}

const PUBLIC_KEY_BYTES = 65;
const UNCOMPRESSED = 4;
const AUTH_BYTES = 16;
const ENDPOINT_MAX_CHARS = 2048;
const BASE64URL = /^[\w-]{1,100}$/;

/** Reads `JSON.stringify(subscription)` of a browser; null if it's none. VALIDATION_FAILED if it can't get messages. */
export function readSubscription(text: string): PushSubscription | null {
  const { endpoint, keys } = objectIn(text);
  const { p256dh, auth } =
    typeof keys === 'object' && keys !== null ? { ...emptyKeys, ...keys } : emptyKeys;
  if (typeof endpoint !== 'string' || endpoint.length > ENDPOINT_MAX_CHARS) return null;
  if (!isBytes(p256dh, PUBLIC_KEY_BYTES) || !isBytes(auth, AUTH_BYTES)) return null;
  if (Buffer.from(p256dh, 'base64url')[0] !== UNCOMPRESSED) return null;
  refuseOffCurve(p256dh);
  return { endpoint, p256dh, auth };
}

function refuseOffCurve(p256dh: string): void {
  try {
    ECDH.convertKey(p256dh, 'prime256v1', 'base64url');
  } catch {
    throw invalid({
      path: 'keys.p256dh',
      message: 'The subscription’s keys.p256dh is not a point of P-256.',
    });
  }
}

const emptyKeys: { readonly p256dh?: unknown; readonly auth?: unknown } = {};

function objectIn(text: string): { readonly endpoint?: unknown; readonly keys?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function isBytes(text: unknown, length: number): text is string {
  return (
    typeof text === 'string' &&
    BASE64URL.test(text) &&
    Buffer.from(text, 'base64url').length === length
  );
}

/** Finds a browser again. Nobody can guess an address, so the hash needs no key. */
export function endpointHash({ endpoint }: PushSubscription): string {
  return hash('sha256', endpoint);
}

/** The additional data that binds a sealed subscription to its browser. */
export function browserAad(projectId: string, browserId: string): string {
  return `browser|${projectId}|${browserId}|subscription`;
}
