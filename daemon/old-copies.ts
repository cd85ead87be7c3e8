import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { takeLock } from '../shared/store/engine/lock.ts';
import { errorCode } from '../shared/lib/guards.ts';
import { readCredentials } from './credentials.ts';
import type { Home } from './home.ts';
import { replicasPath } from './replica-paths.ts';
import { isOutdated, ReplicaFolder } from './replica/sync/replica-folder.ts';

/**
 * Removes replicas that probably no daemon needs again: this machine has no key for the project, or no daemon has
 * updated the replica in the week before `now` (milliseconds since 1970). The one daemon of this data calls it before
 * it opens a replica. Logs a replica that it can't remove.
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

/** Why to remove the replica; null if it may be useful or doesn't exist. */
function uselessness(folder: ReplicaFolder, hasKey: boolean, now: number): string | null {
  if (!folder.hasTraces()) return null;
  if (!hasKey) return 'This machine has no key for its project.';
  const record = folder.readRecord();
  return record && isOutdated(record, now) ? "It hasn't been updated for a week." : null;
}

/** The sync process of a killed daemon may outlive it, and then still has the lock. */
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
