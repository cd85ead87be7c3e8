import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const NOBODY = 65_534;

/**
 * Runs work as an ordinary user, because root can open every folder. It first gives that user the folders and their
 * direct contents.
 */
export async function asNobody<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  for (const folder of folders) {
    for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))]) {
      chownSync(path, NOBODY, NOBODY);
    }
  }
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
