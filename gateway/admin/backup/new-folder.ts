import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../../shared/lib/guards.ts';
import { takeLock, type Lock } from '../../../shared/store/engine/lock.ts';
import { syncFile } from '../../lib/durable-files.ts';
import { AdminError } from '../admin-error.ts';
import { syncFolders } from './copies.ts';

const PARTIAL = '.partial';
/** In a folder that is being made: its maker holds the lock, also after it was renamed. */
const LOCK = '.svc-copying';

/** Throws an `AdminError` if the folder already exists. */
export function refuseExisting(folder: string): void {
  if (existsSync(folder)) throw new AdminError(`${folder} already exists. Name a new folder.`);
}

/**
 * Creates a folder atomically: it's complete and durable, or it doesn't exist. `fill` gets the path to write to and
 * returns the files that it wrote but didn't sync. Throws an `AdminError` while another one is being created there;
 * `kind` names it in messages. Removes what killed processes left in the same place.
 */
export async function makeFolderWhole<T>(
  folder: string,
  kind: string,
  fill: (partial: string) => Promise<{ readonly made: T; readonly files: readonly string[] }>,
): Promise<T> {
  const partial = folder + PARTIAL;
  const lock = await makePartial(partial, kind);
  try {
    const { made, files } = await fill(partial);
    await Promise.all(files.map(syncFile));
    for (const file of [LOCK, `${LOCK}-journal`]) await rm(join(partial, file), { force: true });
    await syncFolders(partial);
    await rename(partial, folder);
    await syncFile(dirname(folder));
    return made;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

async function makePartial(partial: string, kind: string): Promise<Lock> {
  const parent = dirname(partial);
  const refusal = new AdminError(
    `${partial} exists: another ${kind} is running. If none is, delete it.`,
  );
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeLeft(parent);
  try {
    await mkdir(partial, { mode: 0o700 });
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? refusal : error;
  }
  const lock = lockOf(partial);
  if (!lock) throw refusal;
  return lock;
}

/** Removes folders whose maker has died. */
async function removeLeft(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    if (!name.endsWith(PARTIAL) || !existsSync(join(folder, LOCK))) continue;
    const lock = lockOf(folder);
    if (!lock) continue;
    await rm(folder, { recursive: true, force: true });
    lock.release();
  }
}

/** Null as well if we may not take it: then it isn't ours to remove. */
function lockOf(folder: string): Lock | null {
  try {
    return takeLock(join(folder, LOCK));
  } catch {
    return null;
  }
}
