import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { takeLock } from '../shared/store/lock.ts';
import { errorCode } from '../shared/lib/guards.ts';
import { readCredentials } from './credentials.ts';
import type { Home } from './home.ts';
import { replicasPath } from './replica-paths.ts';
import { isOutdated, ReplicaFolder } from './replica/replica-folder.ts';

/**
 * Removes copies that no daemon may run for again: of projects this machine has no key of, and those that were not brought
 * up to date for a week before `now`, in milliseconds since 1970. To be called by the one daemon of this data, before it
 * opens a copy; one that cannot be removed is logged.
 */
export function removeOldCopies(
  home: Pick<Home, 'credentialsFile' | 'dataFolder'>,
  now: number,
  log: Logger,
): void {
  const profiles = Object.values(readCredentials(home.credentialsFile)?.profiles ?? {});
  const projects = new Set(profiles.map(({ project }) => project));
  const replicas = replicasPath(home);
  for (const project of foldersIn(replicas)) {
    try {
      const folder = new ReplicaFolder(join(replicas, project));
      const reason = uselessness(folder, projects.has(project), now);
      if (reason === null || !eraseUnlessHeld(folder)) continue;
      log.info({ project, reason }, 'replica: removed');
    } catch (error) {
      log.warn({ err: error, project }, "replica: can't remove an old replica");
    }
  }
}

/** Null for a copy that may be of use, and where there is none. */
function uselessness(folder: ReplicaFolder, hasKey: boolean, now: number): string | null {
  if (!folder.hasTraces()) return null;
  if (!hasKey) return 'This machine has no key for its project.';
  const record = folder.readRecord();
  return record && isOutdated(record, now) ? "It hasn't been updated for a week." : null;
}

/** The process of a daemon that was killed may outlive it, and has the lock for so long. */
function eraseUnlessHeld(folder: ReplicaFolder): boolean {
  const lock = takeLock(folder.lockPath);
  if (!lock) return false;
  try {
    folder.erase();
    return true;
  } finally {
    lock.release();
  }
}

function foldersIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
