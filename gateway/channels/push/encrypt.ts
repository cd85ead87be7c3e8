import { createCipheriv, createECDH, hkdfSync, randomBytes, type ECDH } from 'node:crypto';
import type { PushSubscription } from '../../lib/push/subscription.ts';

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const CONTENT_KEY_BYTES = 16;
const NONCE_BYTES = 12;
const RECORD_BYTES = 4096;
/** The end of the last record. */
const LAST = Buffer.from([2]);
/** What fits into the one record that push services must take. */
export const PUSH_MAX_BYTES = 3800;

/** What is random in a message; given only by tests. */
interface Random {
  readonly salt: Buffer;
  readonly sender: ECDH;
}

/** Encrypts a message for one browser (RFC 8291), so that the push service can't read it. */
export function encryptPush(
  message: Buffer,
  { p256dh, auth }: PushSubscription,
  { salt, sender }: Random = random(),
): Buffer {
  const [browserKey, ownKey] = [Buffer.from(p256dh, 'base64url'), sender.getPublicKey()];
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), browserKey, ownKey]);
  const shared = sender.computeSecret(browserKey);
  const secret = derive(shared, Buffer.from(auth, 'base64url'), info, KEY_BYTES);
  const key = derive(secret, salt, named('aes128gcm'), CONTENT_KEY_BYTES);
  const nonce = derive(secret, salt, named('nonce'), NONCE_BYTES);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const sealed = [cipher.update(message), cipher.update(LAST), cipher.final(), cipher.getAuthTag()];
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_BYTES);
  return Buffer.concat([salt, size, Buffer.from([ownKey.length]), ownKey, ...sealed]);
}

function random(): Random {
  const sender = createECDH('prime256v1');
  sender.generateKeys();
  return { salt: randomBytes(SALT_BYTES), sender };
}

function named(use: string): Buffer {
  return Buffer.from(`Content-Encoding: ${use}\0`);
}

function derive(secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
}
