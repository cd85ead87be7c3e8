import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Files anywhere under a folder, by their paths. */
export function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}
