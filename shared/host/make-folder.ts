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
 * Makes a folder, and those above it, for this user alone. A power cut does not take them away again. Answers the ones it
 * made, the deepest first; none when the folder is there. Throws what the system says. Node's recursive mkdir tries for ever in a place such as /proc that takes no folders.
 */
export function makeFolder(path: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at) && at !== dirname(at); at = dirname(at)) {
    missing.push(at);
  }
  // A file of that name is refused by making the folder.
  if (missing.length === 0) missing.push(resolve(path));
  return missing.toReversed().filter(makeOne).toReversed();
}

/** False when it is there already: another process may have been quicker. */
function makeOne(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (errorCode(error) === 'EEXIST' && isThere) return false;
    throw error;
  }
  try {
    syncNames(dirname(folder));
  } catch (error) {
    // Whoever tries again would take it for one that is safe.
    rmdirSync(folder);
    throw error;
  }
  return true;
}

/** A folder may be there to be written and not to be read: nobody but the system can sync that. */
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
