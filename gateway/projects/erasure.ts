import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { eraseOnServer } from '../store/server-import.ts';
import type { ProjectDeps } from './project.ts';

/** Where the data is. */
export type ErasureDeps = Pick<ProjectDeps, 'dataFolder' | 'blobsFolder' | 'bucket' | 'databases'>;

/**
 * Deletes a project's blobs, and its database with the log and the archives. Can be repeated after a crash. A server
 * can't be told to drop a database, so there the rows go and the empty database stays, open to a later import. If the
 * project has moved, blobs outside the data folder stay, because the gateway that has it now may keep them there too.
 */
export async function eraseProject(
  projectId: string,
  { dataFolder, blobsFolder, bucket, databases }: ErasureDeps,
  { keepsSharedBlobs }: { readonly keepsSharedBlobs: boolean },
): Promise<void> {
  const ownFolder = (under: string): string => join(under, 'projects', projectId);
  if (!keepsSharedBlobs) {
    if (bucket) {
      for await (const { key } of bucket.list(`projects/${projectId}/`)) await bucket.delete(key);
    }
    await rm(ownFolder(blobsFolder), { recursive: true, force: true });
  }
  const location = databases.ofProject(projectId);
  if (location.kind === 'remote') await eraseOnServer(location);
  await rm(ownFolder(dataFolder), { recursive: true, force: true });
}
