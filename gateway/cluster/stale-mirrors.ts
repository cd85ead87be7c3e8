import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CONTROL_FOLDER } from '../store/databases.ts';

/** A mirror that nobody opened for this long is deleted, because it still has what was deleted since. */
const KEPT_MS = 7 * 86_400_000;

interface MirrorUse {
  /** The projects that exist. */
  readonly projectIds: ReadonlySet<string>;
  /** Whether this process has the project's mirror open. */
  readonly isOpen: (projectId: string) => boolean;
  readonly now: number;
}

/** Deletes the mirrors of projects that are gone, or that this gateway hasn't used for a week. */
export async function dropStaleMirrors(
  folder: string,
  { projectIds, isOpen, now }: MirrorUse,
): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (name === CONTROL_FOLDER || isOpen(name)) continue;
    const path = join(folder, name);
    const isKept = projectIds.has(name) && now - (await usedAt(path)) < KEPT_MS;
    // It may have been opened in the meantime.
    if (!isKept && !isOpen(name)) await rm(path, { recursive: true, force: true });
  }
}

/** Each opening and each write changes the folder or a file in it. */
async function usedAt(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const times = ['', ...names].map(async (name) => {
    const found = await stat(join(folder, name)).catch(() => null);
    return found?.mtimeMs ?? 0;
  });
  return Math.max(...(await Promise.all(times)));
}
