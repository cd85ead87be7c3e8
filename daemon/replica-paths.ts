import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './home.ts';
import { ReplicaFolder } from './replica/replica-folder.ts';

/** Where copies are kept, a folder for each project. */
export function replicasPath({ dataFolder }: Pick<Home, 'dataFolder'>): string {
  return join(dataFolder, 'replicas');
}

/** Where the copy of a gateway's project is kept. */
export function replicaPath(home: Pick<Home, 'dataFolder'>, projectId: string): string {
  return join(replicasPath(home), projectId);
}

/** Removes the copy of a project, if there is one. No daemon may run for it. */
export function removeReplica(home: Pick<Home, 'dataFolder'>, projectId: string): void {
  const path = replicaPath(home, projectId);
  if (existsSync(path)) new ReplicaFolder(path).erase();
}

/** Forgets what was seen of the ledger of a project. No daemon may run for it. */
export function forgetWitness(home: Pick<Home, 'dataFolder'>, projectId: string): void {
  rmSync(new ReplicaFolder(replicaPath(home, projectId)).witnessPath, { force: true });
}
