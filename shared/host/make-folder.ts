import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../lib/guards.ts';

/**
 * Creates a folder and its parents, for this user only, so that they survive a power cut. Returns the folders it
 * created, deepest first; none if the folder exists. Throws the system's error. Node's recursive mkdir would retry
 * forever in a place such as /proc that takes no folders.
 */
export function makeFolder(path: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at) && at !== dirname(at); at = dirname(at)) {
    missing.push(at);
  }
  // If a file has that name, creating the folder fails.
  if (missing.length === 0) missing.push(resolve(path));
  return missing.toReversed().filter(makeOne).toReversed();
}

/** False if it already exists: another process may have been faster. */
function makeOne(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    return false;
  }
  try {
    syncNames(dirname(folder));
  } catch (error) {
    // The next try would take this folder for durable.
    rmdirSync(folder);
    throw error;
  }
  return true;
}

/** If the user may write to a folder but not read it, only the system can sync it. */
function syncNames(folder: string): void {
  let handle = 0;
  try {
    handle = openSync(folder, 'r');
  } catch (error) {
    if (errorCode(error) === 'EACCES') return;
    throw error;
  }
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
