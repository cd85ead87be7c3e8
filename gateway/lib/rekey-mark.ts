import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefusal } from '../../shared/host/start-refusal.ts';
import { errorCode, parseObject } from '../../shared/lib/guards.ts';
import { syncFile, writeThenMove } from './durable-files.ts';

/** The data folder holds this file from before the first database gets the new key until the key file is replaced. */
const FILE = 'rekeying';

/** A change of the master key in progress. Fingerprints name the keys. */
export interface RekeyMark {
  readonly from: string;
  readonly to: string;
  /** The file with the new key. */
  readonly newKeyFile: string;
}

/** Returns the unfinished key change in a data folder, or null. */
export function readRekeyMark(dataFolder: string): RekeyMark | null {
  const path = join(dataFolder, FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
  const { from, to, new_key: newKeyFile } = parseObject(text) ?? {};
  if (typeof from === 'string' && typeof to === 'string' && typeof newKeyFile === 'string') {
    return { from, to, newKeyFile };
  }
  throw new StartRefusal(`${path} is damaged: it was written by svc gateway rekey.`, 'settings');
}

/** Durable when it resolves. */
export async function writeRekeyMark(
  dataFolder: string,
  { from, to, newKeyFile }: RekeyMark,
): Promise<void> {
  const path = join(dataFolder, FILE);
  // This process holds the lock, so an existing file comes from a killed process.
  const temporary = `${path}.tmp`;
  await rm(temporary, { force: true });
  const text = `${JSON.stringify({ from, to, new_key: newKeyFile })}\n`;
  await writeThenMove(temporary, path, Buffer.from(text, 'utf8'));
}

/** Durable when it resolves. */
export async function removeRekeyMark(dataFolder: string): Promise<void> {
  await rm(join(dataFolder, FILE), { force: true });
  await syncFile(dataFolder);
}

/** Throws a `StartRefusal` if only some of the secrets have the new key, because then neither key opens them all. */
export function refuseHalfRekeyed(dataFolder: string): void {
  const mark = readRekeyMark(dataFolder);
  if (!mark) return;
  throw new StartRefusal(
    `A change of the master key did not finish in ${dataFolder}. Run it again, with the settings it had: svc gateway rekey --data ${dataFolder} --new-key ${mark.newKeyFile}`,
    'settings',
  );
}
