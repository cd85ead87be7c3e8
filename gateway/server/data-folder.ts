import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockHolder } from '../../shared/processes.ts';
import { StartRefused } from '../../shared/start-refused.ts';
import { takeLock, type Lock } from '../../shared/store/lock.ts';
import { errorCode } from '../../shared/untyped.ts';
import { claimMode } from '../data-mode.ts';

/**
 * Makes the data folder this process's own for as long as it runs. Throws a `StartRefused` when it cannot be made or
 * written, when another process has it, when it is a local daemon's, or when the key of its secrets is missing.
 */
export function claimDataFolder(folder: string, masterKeyFile: string | null): Lock {
  const lock = lockFolder(folder);
  try {
    claimMode(folder, 'hosted');
    refuseWithoutKey(folder, masterKeyFile ?? join(folder, 'master.key'));
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

function lockFolder(folder: string): Lock {
  const file = join(folder, 'lock');
  try {
    const lock = takeLock(file);
    if (lock) return lock;
  } catch (error) {
    throw new StartRefused(
      `SVC_DATA: ${folder} cannot be written (${errorCode(error) ?? String(error)}).`,
      'settings',
    );
  }
  const pid = lockHolder(file);
  throw new StartRefused(
    `Another process${pid === null ? '' : ` (pid ${pid})`} has the data in ${folder}. End it, or set SVC_DATA to another folder.`,
    'held',
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
