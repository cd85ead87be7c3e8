import { randomBytes } from 'node:crypto';
import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../shared/lib/guards.ts';

/**
 * Replaces a file's text in one step, so that no reader sees half of it. Keeps the file's mode, and keeps a symbolic
 * link by replacing what it points to.
 */
export async function replaceFile(
  path: string,
  text: string,
  { newMode, isPrivate = false }: { readonly newMode: number; readonly isPrivate?: boolean },
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const target = (await orNull(realpath(path))) ?? path;
  const old = (await orNull(stat(target)))?.mode ?? newMode;
  // Nobody else may read a file with a key.
  const mode = isPrivate ? old & 0o700 : old;
  const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', mode & 0o777);
    try {
      await file.writeFile(text);
      // The umask may have removed bits that the old file had.
      await file.chmod(mode & 0o777);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
