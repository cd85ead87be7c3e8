import Libsql from 'libsql';
import { dirname } from 'node:path';
import { makeFolder } from '../../host/make-folder.ts';
import { errorCode } from '../../lib/guards.ts';

/** A lock that ends when the process ends, in whatever way. */
export interface Lock {
  release(): void;
}

/**
 * Takes the lock of a data folder, or returns null if another process has it. Node has no kernel locks, but SQLite
 * takes one for an exclusive transaction: kill -9 frees it, and no file can go stale. Don't open the file elsewhere in
 * this process: closing any handle to it would drop the lock.
 */
export function takeLock(lockFile: string): Lock | null {
  makeFolder(dirname(lockFile));
  const database = new Libsql(lockFile);
  try {
    database.exec('PRAGMA busy_timeout=0; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (errorCode(error) === 'SQLITE_BUSY') return null;
    throw error;
  }
}
