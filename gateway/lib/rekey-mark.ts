import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused } from '../../shared/host/start-refused.ts';
import { errorCode, parseObject } from '../../shared/lib/guards.ts';
import { syncFile, writeThenMove } from './durable-files.ts';

/** In a data folder from before the first database has the new key until the key is in its place. */
const FILE = 'rekeying';

/** A change of the master key that has begun. Keys are named by their fingerprints. */
export interface RekeyMark {
  readonly from: string;
  readonly to: string;
  /** The file that the new key is in. */
  readonly newKeyFile: string;
}

/** The change that has begun in a data folder and not ended; null when there is none. */
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
  throw new StartRefused(`${path} is damaged: it was written by svc gateway rekey.`, 'settings');
}

/** Durable when it resolves. */
export async function writeRekeyMark(
  dataFolder: string,
  { from, to, newKeyFile }: RekeyMark,
): Promise<void> {
  const path = join(dataFolder, FILE);
  // The lock is held: what is there already was left by somebody who was killed.
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

/** Throws a `StartRefused` where some of the secrets have one key, and some another: neither opens them all. */
export function refuseHalfRekeyed(dataFolder: string): void {
  const mark = readRekeyMark(dataFolder);
  if (!mark) return;
  throw new StartRefused(
    `A change of the master key did not finish in ${dataFolder}. Run it again, with the settings it had: svc gateway rekey --data ${dataFolder} --new-key ${mark.newKeyFile}`,
    'settings',
  );
}
