import { accessSync, constants, existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../shared/host/make-folder.ts';
import { lockHolder } from '../../shared/host/processes.ts';
import { StartRefused } from '../../shared/host/start-refused.ts';
import { takeLock, type Lock } from '../../shared/store/lock.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { claimMode } from './data-mode.ts';

/** Where a restore keeps everything until all of it is there. */
export const RESTORE_STAGE = 'restoring';

/**
 * Makes the data folder this process's own for as long as it runs. Throws a `StartRefused` when it cannot be made or
 * written, when another process has it, when a restore did not finish there, when it is a local daemon's, or when the key of
 * its secrets is missing.
 */
export function claimDataFolder(folder: string, masterKeyFile: string | null): Lock {
  const lock = lockFolder(folder);
  try {
    refuseHalfRestored(folder);
    claimMode(folder, 'hosted');
    refuseWithoutKey(folder, masterKeyFile ?? join(folder, 'master.key'));
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Makes a data folder with data in it this process's own, a gateway's or a local daemon's. Throws a `StartRefused` when another
 * process has it, or a restore did not finish there.
 */
export function claimWhosever(folder: string): Lock {
  const lock = lockFolder(folder);
  try {
    refuseHalfRestored(folder);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Throws a `StartRefused` when the folder cannot be made or written. Leaves nothing that was not there. */
export function tryDataFolder(folder: string): void {
  try {
    const made = makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
    for (const one of made) rmdirSync(one);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

function unwritable(folder: string, error: unknown): StartRefused {
  return new StartRefused(
    `SVC_DATA: ${folder} cannot be written (${errorCode(error) ?? String(error)}). Name a folder that can.`,
    'settings',
  );
}

function lockFolder(folder: string): Lock {
  const file = join(folder, 'lock');
  try {
    const lock = takeLock(file);
    if (lock) return lock;
  } catch (error) {
    throw unwritable(folder, error);
  }
  const pid = lockHolder(file);
  throw new StartRefused(
    `Another process${pid === null ? '' : ` (pid ${pid})`} has the data in ${folder}. End it, or set SVC_DATA to another folder.`,
    'held',
  );
}

/** What is there of it looks like an empty gateway, and whoever waits for the data would find none. */
function refuseHalfRestored(folder: string): void {
  const stage = join(folder, RESTORE_STAGE);
  if (!existsSync(stage)) return;
  throw new StartRefused(
    `A restore did not finish in ${folder}. Repeat it with \`svc gateway restore\`, or remove ${stage} to begin without it.`,
    'settings',
  );
}

/** A new key would open nothing of what is stored, and every secret would be lost in silence. */
function refuseWithoutKey(folder: string, keyFile: string): void {
  if (existsSync(keyFile) || !existsSync(join(folder, 'control.db'))) return;
  throw new StartRefused(
    `The key ${keyFile} is missing, and the data in ${folder} were sealed with it. Put it back, or name it by SVC_MASTER_KEY_FILE.`,
    'settings',
  );
}
