import Libsql from 'libsql';
import { constants } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { Home } from './home.ts';
import { takeLock } from '../shared/store/engine/lock.ts';

/** One line for each damaged database of a data folder; null when a daemon is using the folder. */
export async function checkData(home: Home): Promise<string[] | null> {
  const lock = takeLock(home.lockFile);
  if (!lock) return null;
  // A copy on the same disk can share blocks with the original and cost nothing.
  const folder = await mkdtemp(join(home.dataFolder, 'check-'));
  try {
    const problems: string[] = [];
    for (const path of await databases(home.dataFolder)) {
      const found = await checkCopy(path, folder);
      if (found !== null) problems.push(`${relative(home.dataFolder, path)}: ${found}`);
    }
    return problems;
  } finally {
    await rm(folder, { recursive: true, force: true });
    lock.release();
  }
}

async function databases(dataFolder: string): Promise<string[]> {
  const entries = await readdir(dataFolder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.db'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Checks a copy: closing the last connection to the original would checkpoint it. */
async function checkCopy(path: string, folder: string): Promise<string | null> {
  const copy = join(folder, basename(path));
  await copyFile(path, copy, constants.COPYFILE_FICLONE);
  if (await stat(`${path}-wal`).catch(() => null)) await copyFile(`${path}-wal`, `${copy}-wal`);
  try {
    return quickCheck(copy);
  } finally {
    for (const suffix of ['', '-wal', '-shm']) await rm(`${copy}${suffix}`, { force: true });
  }
}

function quickCheck(path: string): string | null {
  const database = new Libsql(path);
  try {
    const rows: unknown[] = database.prepare('PRAGMA quick_check').raw(true).all([]);
    const texts = rows.flat().map(String);
    return texts.length === 1 && texts[0] === 'ok' ? null : (texts[0] ?? 'no answer');
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    database.close();
  }
}
