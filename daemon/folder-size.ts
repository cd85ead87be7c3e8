import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The bytes of all files below a folder; 0 if there's no folder. */
export async function folderBytes(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  let total = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    // The daemon keeps running, and may have removed the file since.
    total += (await lstat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0;
  }
  return total;
}
