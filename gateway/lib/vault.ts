import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { OTHER_MASTER_KEY } from '../../shared/host/start-refusal.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { StartRefusal } from '../../shared/host/start-refusal.ts';
import { errorCode } from '../../shared/lib/guards.ts';

const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 4;
/** Describes why a folder can't hold a new key. */
const PLACE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is no folder',
  EACCES: 'may not be written to',
  EROFS: 'cannot be written to',
};
const HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;

/** A vault that recognizes values sealed with its own master key. */
export interface OwnVault extends Vault {
  /** It checks the head of the value. */
  readonly hasSealed: (sealed: Uint8Array) => boolean;
}

/**
 * Seals secrets for rows with AES-256-GCM: format byte, key id, nonce, tag, ciphertext. It also authenticates the
 * place (table, project, row, column), so a sealed value that is copied to another row doesn't open.
 */
export function createVault(masterKey: Uint8Array): OwnVault {
  const sealKey = Buffer.from(hkdfSync('sha256', masterKey, '', 'svc sealed rows', 32));
  const linkKey = Buffer.from(hkdfSync('sha256', masterKey, '', 'svc signed links', 32));
  const keyId = createHash('sha256').update(sealKey).digest().subarray(0, KEY_ID_BYTES);
  const hasSealed = (sealed: Uint8Array): boolean =>
    sealed[0] === FORMAT && keyId.equals(sealed.subarray(1, 1 + KEY_ID_BYTES));
  return {
    hasSealed,
    seal(aad, plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(aad));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Uint8Array.of(FORMAT), keyId, nonce, cipher.getAuthTag(), body]);
    },
    open(aad, sealed) {
      if (!hasSealed(sealed)) {
        throw new OtherMasterKey();
      }
      const bytes = Buffer.from(sealed);
      const nonce = bytes.subarray(1 + KEY_ID_BYTES, HEAD_BYTES - TAG_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', sealKey, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(aad))
        .setAuthTag(bytes.subarray(HEAD_BYTES - TAG_BYTES, HEAD_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]);
    },
    sign: (text) => createHmac('sha256', linkKey).update(text).digest('base64url'),
  };
}

/** The master key isn't the one of this data. */
class OtherMasterKey extends Error {
  readonly code = OTHER_MASTER_KEY;

  constructor() {
    super(
      'The stored secrets were sealed with another master key. Put back the master.key that belongs to this data, or name its file with SVC_MASTER_KEY_FILE.',
    );
  }
}

/**
 * Reads the master key, or creates it (mode 0600, synced) if the file is missing. Gateways that share the file and
 * start at once get the same key. `setting` names the file in errors.
 */
export function loadMasterKey(path: string, setting = 'SVC_MASTER_KEY_FILE'): Uint8Array {
  try {
    return decodeKey(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  // A power cut that loses the key would lose every sealed row, and half a key would block every later start. So the
  // file is complete before it gets its name.
  const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  const file = openNew(temporary, path, setting);
  writeSync(file, keyText(randomBytes(32)));
  fsyncSync(file);
  closeSync(file);
  nameUnlessTaken(temporary, path);
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
  return decodeKey(readFileSync(path, 'utf8'), path);
}

function openNew(temporary: string, path: string, setting: string): number {
  try {
    return openSync(temporary, 'wx', 0o600);
  } catch (error) {
    const problem = PLACE_PROBLEMS[errorCode(error) ?? ''];
    if (problem === undefined) throw error;
    throw new StartRefusal(
      `${setting}: no key can be made at ${path}, because ${dirname(path)} ${problem}. Make that folder for this user, or name another file.`,
      'settings',
    );
  }
}

/** A rename would replace a key that another gateway has just created and perhaps used. */
function nameUnlessTaken(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch (error) {
    // A file system without hard links isn't shared, so no other gateway is there.
    if (errorCode(error) !== 'EEXIST') return renameSync(temporary, path);
  }
  rmSync(temporary);
}

/** The content of a master key file. */
export function keyText(masterKey: Uint8Array): string {
  return `${Buffer.from(masterKey).toString('base64')}\n`;
}

function decodeKey(text: string, path: string): Uint8Array {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === 32) return key;
  throw new StartRefusal(`${path} does not hold a 32-byte key in base64.`, 'settings');
}
