import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { loadMasterKey } from '../lib/vault.ts';
import { AdminError } from './admin-error.ts';

/** Reads the master key from this file, which must exist, because a new key would open nothing. Throws an `AdminError`. */
export function existingKey(file: string): Uint8Array {
  if (!existsSync(file)) {
    throw new AdminError(`The master key ${file} is missing. Name it with SVC_MASTER_KEY_FILE.`);
  }
  return loadMasterKey(file);
}

/** The master key in a file, or what is wrong with it, as for a `Finding`. */
export function readKey(file: string): Uint8Array | string {
  if (!existsSync(file)) return 'is missing';
  try {
    return loadMasterKey(file);
  } catch (error) {
    return `can't be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Shows whether two gateways have the same key without revealing it: 8 hex digits of its double SHA-256. */
export function fingerprintOf(masterKey: Uint8Array): string {
  const once = createHash('sha256').update(masterKey).digest();
  return createHash('sha256').update(once).digest('hex').slice(0, 8);
}
