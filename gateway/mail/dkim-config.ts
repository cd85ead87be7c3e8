import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '../../shared/lib/guards.ts';
import type { DkimConfig } from './mail-config.ts';
import type { Complain } from './server-url.ts';

const KEY_FILE = 'SVC_DKIM_KEY_FILE';
const SELECTOR = 'SVC_DKIM_SELECTOR';
/** The least that verifiers accept, and what signers should use (RFC 8301 section 3.2). */
const RSA_BITS_MIN = 1024;
const RSA_BITS = 2048;
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const SELECTOR_FORM = new RegExp(`^${LABEL}(?:\\.${LABEL}){0,3}$`);

/** Reads SVC_DKIM_KEY_FILE, a private key in PEM, and SVC_DKIM_SELECTOR. Null if there is no usable key. */
export function readDkim(
  env: Readonly<Record<string, string | undefined>>,
  complain: Complain,
): DkimConfig | null {
  const path = env[KEY_FILE] ?? '';
  const selector = env[SELECTOR] ?? '';
  if (path === '' && selector === '') return null;
  if (selector === '') complain(`${SELECTOR} is not set: ${KEY_FILE} needs it.`);
  else if (!SELECTOR_FORM.test(selector)) {
    complain(`${SELECTOR} isn't a DNS name such as \`svc1\`.`);
  }
  if (path === '') complain(`${KEY_FILE} is not set: ${SELECTOR} needs it.`);
  const key = path === '' ? null : readKey(path, complain);
  return key && { selector: selector.toLowerCase(), key, remarks: remarksOn(path, key) };
}

function readKey(path: string, complain: Complain): KeyObject | null {
  let pem: Buffer;
  try {
    pem = readFileSync(path);
  } catch (error) {
    complain(`${KEY_FILE}: the file cannot be read (${errorCode(error) ?? 'unknown'}).`);
    return null;
  }
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519' || bitsOf(key) >= RSA_BITS_MIN) return key;
  } catch {
    // Reported below.
  }
  complain(
    `${KEY_FILE} holds no private key in PEM without a passphrase: Ed25519, or RSA of ${RSA_BITS_MIN} bits or more.`,
  );
  return null;
}

function bitsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): number {
  return asymmetricKeyType === 'rsa' ? (asymmetricKeyDetails?.modulusLength ?? 0) : 0;
}

function remarksOn(path: string, key: KeyObject): string[] {
  const bits = bitsOf(key);
  return [
    ...((statSync(path).mode & 0o077) === 0
      ? []
      : [`${KEY_FILE}: the file can be read by others on this machine. chmod 600 it.`]),
    ...(bits > 0 && bits < RSA_BITS
      ? [`${KEY_FILE}: an RSA key of ${bits} bits is short. Make one of ${RSA_BITS}.`]
      : []),
  ];
}
