import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../shared/lib/guards.ts';
import { fileExists, localFault, localRefusal, onFile } from './faults.ts';
import type { LocalTarget } from './part-file.ts';
import { baseName } from './typed-path.ts';

/** The local file to write: the given name, or the stored name in the current folder. */
export async function targetFor(
  given: string | undefined,
  path: string,
  mayReplace: boolean,
): Promise<LocalTarget> {
  const name = await nameFor(given, path);
  const found = await orNull(lstat(name), name);
  if (!found) {
    await requireFolder(dirname(name));
    return { name, target: name, replacedMode: null };
  }
  if (!mayReplace) throw fileExists(name, 'Overwrite it with --force, or choose another name.');
  // Keep a symbolic link and replace what it points to.
  const target = found.isSymbolicLink() ? await onFile(name, 'replaced', realpath(name)) : name;
  const kind = await onFile(name, 'replaced', stat(target));
  if (!kind.isFile())
    throw localRefusal(`"${name}" isn't a regular file, so svc didn't replace it.`);
  return { name, target, replacedMode: kind.mode };
}

/** Into a folder, the file keeps its own name, as with `cp`. */
async function nameFor(given: string | undefined, path: string): Promise<string> {
  if (given === undefined) return baseName(path);
  const isFolder = given.endsWith('/') || (await orNull(stat(given), given))?.isDirectory();
  return isFolder ? join(given, baseName(path)) : given;
}

async function requireFolder(folder: string): Promise<void> {
  const found = await orNull(stat(folder), folder);
  if (found?.isDirectory()) return;
  throw localRefusal(`No folder "${folder}" here.`, `Create it first: mkdir -p ${folder}`);
}

async function orNull<T>(work: Promise<T>, name: string): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw localFault(error, name, 'used');
  }
}
