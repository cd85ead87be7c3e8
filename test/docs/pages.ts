import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stepsOf } from './page.ts';

/** Folders that hold what others wrote, or what a build made. */
const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', 'corpus', 'fixtures']);

/** Every page of the repository, by its path. */
export function allPages(folder = '.'): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return NOT_OURS.has(entry.name) || entry.name.startsWith('.') ? [] : allPages(path);
    }
    return entry.isFile() && entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Those with commands that can be run. */
export function runnablePages(): string[] {
  return allPages().filter((path) => stepsOf(readFileSync(path, 'utf8')).length > 0);
}
