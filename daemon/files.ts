import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../shared/host/make-folder.ts';
import { errorCode } from '../shared/lib/guards.ts';

/** Creates a folder, and the folders above it, for this user alone. */
export function makePrivateFolder(path: string): void {
  makeFolder(path);
}

/** Replaces a file in one step, mode 0600: a reader or a crash sees the old content or the new one. */
export function writePrivateFile(path: string, content: string | Uint8Array): void {
  makePrivateFolder(dirname(path));
  const temporary = `${path}.${process.pid}.tmp`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

/** The text of a file, or null when there is none. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A name is durable only when its folder is. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
