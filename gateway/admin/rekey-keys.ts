import { existsSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFile, writeThenMove } from '../lib/durable-files.ts';
import type { RekeyMark } from '../lib/rekey-mark.ts';
import { keyText, loadMasterKey } from '../lib/vault.ts';
import { AdminError } from './admin-error.ts';
import { existingKey, fingerprintOf } from './master-key.ts';

/** Whoever writes a key in the data folder has its lock: what is found here is left of somebody who was killed. */
const TEMPORARY = 'rekeying.key.tmp';

/** Where the keys of a change are. */
export interface KeyFiles {
  readonly dataFolder: string;
  /** Of the key in use. */
  readonly keyFile: string;
  /** Absolute; named by whoever runs the command, who may have put it where it does not outlast the machine. */
  readonly newKeyFile: string;
  /** The key is in the data folder, where nobody but us has to be told of another one. */
  readonly isOwnKey: boolean;
}

/** Where the keys are when all is done. */
export interface KeysNow {
  /** The file that the next start has to be told of; null where the new key is in its place in the data folder. */
  readonly nameKeyFile: string | null;
  /** Where the key of before was put; null where it stays in its own file. */
  readonly oldKeyFile: string | null;
  /** The file that was named for the new key does not hold it any more. */
  readonly isNewKeyGone: boolean;
}

/** The new key of a change that has begun; null when it is nowhere. Makes none. */
export function begunKey(places: KeyFiles, { to, newKeyFile }: RekeyMark): Uint8Array | null {
  if (existsSync(places.newKeyFile)) return loadMasterKey(places.newKeyFile, '--new-key');
  if (places.newKeyFile !== newKeyFile) return null;
  const file = [spareFile(places, to), places.keyFile].find((path) => holds(path, to));
  return file === undefined ? null : loadMasterKey(file);
}

/** Soon nothing opens without the new key: a durable copy of it lies beside the data until all is done. */
export async function keepSpare(
  places: KeyFiles,
  { to }: RekeyMark,
  fresh: Uint8Array,
): Promise<void> {
  const { dataFolder, keyFile, newKeyFile, isOwnKey } = places;
  // Whoever has made the file may not have waited for the disk.
  if (existsSync(newKeyFile)) await syncDurably(newKeyFile);
  if (isOwnKey && holds(keyFile, to)) return;
  const spare = spareFile(places, to);
  if (holds(spare, to)) return syncDurably(spare);
  if (existsSync(spare)) {
    throw new AdminError(`${spare} holds another key than its name says. Move it elsewhere.`);
  }
  await writeKey(dataFolder, spare, fresh);
}

/** The key of before is kept, as backups need it. Answers where; there is a key in place at every moment. */
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
 * Removes the copy beside the data, unless it is the only one or was named as the file of the new key, and what killed runs
 * have left. Answers where the keys are.
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

/** Whole and durable, in the place of whatever was there. */
async function writeKey(dataFolder: string, path: string, key: Uint8Array): Promise<void> {
  const temporary = join(dataFolder, TEMPORARY);
  await rm(temporary, { force: true });
  await writeThenMove(temporary, path, Buffer.from(keyText(key)));
}
