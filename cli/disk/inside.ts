import type { Stats } from 'node:fs';
import { lstat, mkdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../shared/lib/guards.ts';
import { localFault, localRefusal, onFile } from './faults.ts';
import type { LocalTarget } from './part-file.ts';

// Stored paths come from others. Below a folder they may pass only through real folders, because a symbolic link could
// lead anywhere.

/** Returns the target for a file below a folder and creates its parents. Only a regular file may be replaced. */
export async function targetInside(
  root: string,
  file: string,
  mayReplace: boolean,
): Promise<LocalTarget> {
  const folders = file.split('/');
  const name = folders.pop() ?? '';
  let folder = root;
  for (const one of folders) {
    folder = join(folder, one);
    await onFile(file, 'written', makeFolder(folder));
    await requireRealFolder(folder, file);
  }
  const target = join(folder, name);
  const found = await lstatOrNull(target);
  if (!found) return { name: file, target, replacedMode: null };
  if (!found.isFile())
    throw localRefusal(`"${file}" is ${kindOf(found)} here, so svc didn't replace it.`);
  // A file that wasn't there when the folders were compared must not be replaced.
  if (!mayReplace) throw localRefusal(`"${file}" already exists here, so svc didn't replace it.`);
  return { name: file, target, replacedMode: found.mode };
}

/** Removes a regular file below a folder, and then any parents it leaves empty. */
export async function removeInside(root: string, file: string): Promise<void> {
  const folders = file.split('/');
  folders.pop();
  const parents = folders.map((_, at) => join(root, ...folders.slice(0, at + 1)));
  for (const parent of parents) await requireRealFolder(parent, file);
  const target = join(root, file);
  const found = await lstatOrNull(target);
  if (!found) return;
  if (!found.isFile())
    throw localRefusal(`"${file}" is ${kindOf(found)} here, so svc didn't delete it.`);
  await onFile(file, 'removed', unlink(target));
  for (const parent of parents.toReversed()) {
    if (!(await removeIfEmpty(parent))) return;
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

async function requireRealFolder(folder: string, file: string): Promise<void> {
  const found = await lstatOrNull(folder);
  if (found?.isDirectory()) return;
  const what = found ? kindOf(found) : 'gone';
  throw localRefusal(`A folder on the way to "${file}" is ${what}.`);
}

async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch {
    // The folder isn't empty.
    return false;
  }
}

async function lstatOrNull(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw localFault(error, path, 'used');
  }
}

function kindOf(found: Stats): string {
  if (found.isSymbolicLink()) return 'a symbolic link';
  if (found.isDirectory()) return 'a folder';
  return found.isFile() ? 'a file' : 'not a regular file';
}
