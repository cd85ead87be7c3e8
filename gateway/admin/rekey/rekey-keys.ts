import { existsSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFile, writeThenMove } from '../../lib/durable-files.ts';
import type { RekeyMark } from '../../lib/rekey-mark.ts';
import { keyText, loadMasterKey } from '../../lib/vault.ts';
import { AdminError } from '../admin-error.ts';
import { existingKey, fingerprintOf } from '../master-key.ts';

/** Writing a key in the data folder needs the folder's lock, so files found here were left by a killed process. */
const TEMPORARY = 'rekeying.key.tmp';

/** The key files of a change. */
export interface KeyFiles {
  readonly dataFolder: string;
  /** The file of the current key. */
  readonly keyFile: string;
  /** Absolute. The operator chose it, perhaps in a place that doesn't outlast the machine. */
  readonly newKeyFile: string;
  /** The key is in the data folder, so nobody else needs to learn of a new file. */
  readonly isOwnKey: boolean;
}

/** Where the keys are in the end. */
export interface KeysNow {
  /** The file that the next start must be told about; null if the new key is in its usual place in the data folder. */
  readonly nameKeyFile: string | null;
  /** Where the old key was moved; null if it stays in its own file. */
  readonly oldKeyFile: string | null;
  /** The file named for the new key no longer contains it. */
  readonly isNewKeyGone: boolean;
}

/** The new key of a started change; null if it can't be found. Creates none. */
export function begunKey(places: KeyFiles, { to, newKeyFile }: RekeyMark): Uint8Array | null {
  if (existsSync(places.newKeyFile)) return loadMasterKey(places.newKeyFile, '--new-key');
  if (places.newKeyFile !== newKeyFile) return null;
  const file = [spareFile(places, to), places.keyFile].find((path) => holds(path, to));
  return file === undefined ? null : loadMasterKey(file);
}

/** Soon everything needs the new key, so a durable copy stays with the data until the end. */
export async function keepSpare(
  places: KeyFiles,
  { to }: RekeyMark,
  fresh: Uint8Array,
): Promise<void> {
  const { dataFolder, keyFile, newKeyFile, isOwnKey } = places;
  // The operator may have created the file without syncing it.
  if (existsSync(newKeyFile)) await syncDurably(newKeyFile);
  if (isOwnKey && holds(keyFile, to)) return;
  const spare = spareFile(places, to);
  if (holds(spare, to)) return syncDurably(spare);
  if (existsSync(spare)) {
    throw new AdminError(`${spare} holds another key than its name says. Move it elsewhere.`);
  }
  await writeKey(dataFolder, spare, fresh);
}

/** Keeps the old key, because backups need it, and returns where. At every moment there is a key in place. */
export async function putKeyInPlace(
  { dataFolder, keyFile }: KeyFiles,
  { mark, fresh }: { readonly mark: RekeyMark; readonly fresh: Uint8Array },
  at: (point: 'old key kept' | 'key in place') => void,
): Promise<string> {
  const kept = `${keyFile}.${mark.from}`;
  const inPlace = existingKey(keyFile);
  if (fingerprintOf(inPlace) === mark.to) return kept;
  await writeKey(dataFolder, kept, inPlace);
  at('old key kept');
  await writeKey(dataFolder, keyFile, fresh);
  at('key in place');
  return kept;
}

/**
 * Removes the copy next to the data, unless it's the only one or was named as the new key's file, and the leftovers of
 * killed runs. Returns where the keys are.
 */
export async function dropSpare(
  places: KeyFiles,
  { to }: RekeyMark,
  oldKeyFile: string | null,
): Promise<KeysNow> {
  const { dataFolder, newKeyFile, isOwnKey } = places;
  const spare = spareFile(places, to);
  const isNewKeyGone = !holds(newKeyFile, to);
  const isNeeded = isNewKeyGone ? !isOwnKey : isSameFile(spare, newKeyFile);
  if (!isNeeded) await rm(spare, { force: true });
  await rm(join(dataFolder, TEMPORARY), { force: true });
  await syncFile(dataFolder);
  const named = isNewKeyGone ? spare : newKeyFile;
  return { nameKeyFile: isOwnKey ? null : named, oldKeyFile, isNewKeyGone };
}

function spareFile({ dataFolder }: KeyFiles, to: string): string {
  return join(dataFolder, `master.key.${to}`);
}

function holds(path: string, fingerprint: string): boolean {
  return existsSync(path) && fingerprintOf(loadMasterKey(path)) === fingerprint;
}

function isSameFile(one: string, other: string): boolean {
  return existsSync(one) && realpathSync(one) === realpathSync(other);
}

async function syncDurably(path: string): Promise<void> {
  await syncFile(path);
  await syncFile(dirname(path));
}

/** Writes the file atomically and durably, replacing any file there. */
async function writeKey(dataFolder: string, path: string, key: Uint8Array): Promise<void> {
  const temporary = join(dataFolder, TEMPORARY);
  await rm(temporary, { force: true });
  await writeThenMove(temporary, path, Buffer.from(keyText(key)));
}
