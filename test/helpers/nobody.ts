import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const NOBODY = 65_534;

/**
 * Work with the rights of an ordinary user, which this one is unless it is root: no folder is closed to root. The folders,
 * and what is directly in them, are given away first.
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
