import { accessSync, constants, existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../shared/host/make-folder.ts';
import { lockHolder } from '../../shared/host/processes.ts';
import { StartRefusal } from '../../shared/host/start-refusal.ts';
import { isOfSqlite, troubleOf } from '../../shared/host/start-trouble.ts';
import {
  dataPlaces,
  namesTrouble,
  unwritable as unwritableAt,
  type WriteTrouble,
} from '../../shared/host/writable.ts';
import { takeLock, type Lock } from '../../shared/store/engine/lock.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { claimMode } from './data-mode.ts';

/** A restore writes into this folder until it is complete. */
export const RESTORE_STAGE = 'restoring';

/**
 * Locks the data folder of a gateway for this process. Throws a `StartRefusal` if the process can't create or write
 * the folder, if another process has it, if a restore didn't finish there, if it belongs to a local daemon, or if its
 * master key is missing.
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
 * Locks an existing data folder, whether a gateway or a local daemon owns it. Throws a `StartRefusal` if another
 * process has it, or if a restore didn't finish there.
 */
export function claimAnyMode(folder: string): Lock {
  const lock = lockFolder(folder);
  try {
    refuseHalfRestored(folder);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Throws a `StartRefusal` if the process can't create or write the folder. Removes the folders that it made. */
export function tryDataFolder(folder: string): void {
  try {
    const made = makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
    for (const one of made) rmdirSync(one);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

function unwritable(folder: string, error: unknown): StartRefusal {
  const trouble =
    unwritableAt([folder], folder) ??
    troubleOf(error) ??
    (isOfSqlite(error) ? namesTrouble(folder) : null);
  if (trouble) return refusedFor(trouble);
  return new StartRefusal(
    `SVC_DATA: ${folder} cannot be written (${errorCode(error) ?? String(error)}). Name a folder that can.`,
    'settings',
  );
}

function refusedFor({ text, cure }: WriteTrouble): StartRefusal {
  return new StartRefusal(`SVC_DATA: ${text}. ${cure}`, 'settings');
}

function lockFolder(folder: string): Lock {
  const trouble = unwritableAt(dataPlaces(folder), folder);
  if (trouble) throw refusedFor(trouble);
  const file = join(folder, 'lock');
  try {
    const lock = takeLock(file);
    if (lock) return lock;
  } catch (error) {
    throw unwritable(folder, error);
  }
  const pid = lockHolder(file);
  throw new StartRefusal(
    `Another process${pid === null ? '' : ` (pid ${pid})`} has the data in ${folder}. End it, or set SVC_DATA to another folder.`,
    'held',
  );
}

/** A partial restore looks like an empty gateway, and its users would find no data. */
function refuseHalfRestored(folder: string): void {
  const stage = join(folder, RESTORE_STAGE);
  if (!existsSync(stage)) return;
  throw new StartRefusal(
    `A restore did not finish in ${folder}. Repeat it with \`svc gateway restore\`, or remove ${stage} to begin without it.`,
    'settings',
  );
}

/** A new key couldn't open the stored secrets, and all of them would be lost without an error. */
function refuseWithoutKey(folder: string, keyFile: string): void {
  if (existsSync(keyFile) || !existsSync(join(folder, 'control.db'))) return;
  throw new StartRefusal(
    `The key ${keyFile} is missing, and the data in ${folder} were sealed with it. Put it back, or name it by SVC_MASTER_KEY_FILE.`,
    'settings',
  );
}
