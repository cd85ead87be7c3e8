import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../shared/lib/guards.ts';
import { syncFile } from '../lib/durable-files.ts';
import { AdminError } from './admin-error.ts';
import { syncFolders } from './copies.ts';

/** Throws an `AdminError` if the folder already exists. */
export function refuseExisting(folder: string): void {
  if (existsSync(folder)) throw new AdminError(`${folder} already exists. Name a new folder.`);
}

/**
 * Creates a folder atomically: it's complete and durable, or it doesn't exist. `fill` gets the path to write to and
 * returns the files that it wrote but didn't sync. Throws an `AdminError` while another one is being created there;
 * `kind` names it in messages.
 */
export async function makeFolderWhole<T>(
  folder: string,
  kind: string,
  fill: (partial: string) => Promise<{ readonly made: T; readonly files: readonly string[] }>,
): Promise<T> {
  const partial = `${folder}.partial`;
  await makePartial(partial, kind);
  try {
    const { made, files } = await fill(partial);
    await Promise.all(files.map(syncFile));
    await syncFolders(partial);
    await rename(partial, folder);
    await syncFile(dirname(folder));
    return made;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function makePartial(partial: string, kind: string): Promise<void> {
  try {
    await mkdir(dirname(partial), { recursive: true, mode: 0o700 });
    await mkdir(partial, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new AdminError(
      `${partial} exists: another ${kind} is running, or was interrupted. Delete it if none is running.`,
    );
  }
}
