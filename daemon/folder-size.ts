import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The bytes of all files below a folder; 0 when there is none. */
export async function folderBytes(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  let total = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    // A file may be gone by now: the daemon works on.
    total += (await lstat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0;
  }
  return total;
}
