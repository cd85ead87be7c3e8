import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openWriter } from '../../shared/store/open.ts';
import { emptyTables } from '../../shared/store/table-copy.ts';
import type { ProjectDeps } from './project.ts';

/** Where the data is. */
export type ErasureDeps = Pick<ProjectDeps, 'dataFolder' | 'blobsFolder' | 'bucket' | 'databases'>;

/**
 * Deletes a project's blobs, and its database with the log and the archives. Can be repeated after a crash. A server
 * can't be told to drop a database, so there the rows go and the empty database stays.
 */
export async function eraseProject(
  projectId: string,
  { dataFolder, blobsFolder, bucket, databases }: ErasureDeps,
): Promise<void> {
  if (bucket) {
    for await (const { key } of bucket.list(`projects/${projectId}/`)) await bucket.delete(key);
  }
  const ownFolder = (under: string): string => join(under, 'projects', projectId);
  await rm(ownFolder(blobsFolder), { recursive: true, force: true });
  const location = databases.ofProject(projectId);
  if (location.kind === 'remote') {
    // A write that fails rejects.
    const writer = await openWriter(location, 'project', { onFatal: () => undefined });
    try {
      await emptyTables(writer);
    } finally {
      await writer.close();
    }
  }
  await rm(ownFolder(dataFolder), { recursive: true, force: true });
}
