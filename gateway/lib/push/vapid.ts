import { createPrivateKey, generateKeyPairSync, sign, type JsonWebKey } from 'node:crypto';

/** How push services know who sends: RFC 8292. */
export type VapidKey = Required<Pick<JsonWebKey, 'kty' | 'crv' | 'd' | 'x' | 'y'>>;

const VALID_SECONDS = 12 * 3600;
const HEADER = base64url(JSON.stringify({ typ: 'JWT', alg: 'ES256' }));

export function generateVapidKey(): VapidKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty = '', crv = '', d = '', x = '', y = '' } = privateKey.export({ format: 'jwk' });
  return { kty, crv, d, x, y };
}

/** The public key, as a browser takes it. */
export function vapidPublicKey({ x, y }: VapidKey): string {
  return Buffer.concat([
    Buffer.from([4]),
    Buffer.from(x, 'base64url'),
    Buffer.from(y, 'base64url'),
  ]).toString('base64url');
}

/** The header `Authorization` of a push. `contact`: a URL where the push service finds the sender. */
export function vapidHeader(
  key: VapidKey,
  {
    endpoint,
    contact,
    now,
  }: { readonly endpoint: string; readonly contact: string; readonly now: number },
): string {
  const exp = Math.floor(now / 1000) + VALID_SECONDS;
  const claims = base64url(JSON.stringify({ aud: new URL(endpoint).origin, exp, sub: contact }));
  const signature = sign('sha256', Buffer.from(`${HEADER}.${claims}`), {
    key: createPrivateKey({ key, format: 'jwk' }),
    dsaEncoding: 'ieee-p1363',
  });
  return `vapid t=${HEADER}.${claims}.${signature.toString('base64url')}, k=${vapidPublicKey(key)}`;
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** The additional data that seals a project's key. */
export function vapidKeyAad(projectId: string): string {
  return `meta|${projectId}|push_key|value`;
}
