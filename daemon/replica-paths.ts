import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './home.ts';
import { ReplicaFolder } from './replica/sync/replica-folder.ts';

/** The folder of all replicas, with a folder for each project. */
export function replicasPath({ dataFolder }: Pick<Home, 'dataFolder'>): string {
  return join(dataFolder, 'replicas');
}

/** The folder of one project's replica. */
export function replicaPath(home: Pick<Home, 'dataFolder'>, projectId: string): string {
  return join(replicasPath(home), projectId);
}

/** Removes a project's replica, if there is one. No daemon may be running for it. */
export function removeReplica(home: Pick<Home, 'dataFolder'>, projectId: string): void {
  const path = replicaPath(home, projectId);
  if (existsSync(path)) new ReplicaFolder(path).erase();
}

/** Forgets the known ledger of a project. No daemon may be running for it. */
export function forgetWitness(home: Pick<Home, 'dataFolder'>, projectId: string): void {
  rmSync(new ReplicaFolder(replicaPath(home, projectId)).witnessPath, { force: true });
}
