import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../shared/host/make-folder.ts';
import { errorCode } from '../shared/lib/guards.ts';

/** Creates a folder, and the missing folders above it, for this user alone. */
export function makePrivateFolder(path: string): void {
  makeFolder(path);
}

/** Replaces a file in one step, mode 0600: readers see the old or the new content, even after a crash. */
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

/**
 * The same without a sync, and without blocking: a power cut may bring back the old content or leave the file empty. Call
 * it once at a time.
 */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, path);
}

/** The text of a file, or null if there's no file. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A rename survives a crash only after its folder is synced. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
