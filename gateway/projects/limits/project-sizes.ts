import { stat } from 'node:fs/promises';
import { Repositories } from '../../../shared/store/repositories.ts';
import type { ControlStore } from '../../store/control-store.ts';
import { openReadOnly } from '../../store/read-only.ts';
import { isMissing } from '../../blobs/blob-store.ts';
import type { Databases } from '../../store/databases.ts';

/**
 * The bytes that projects have on this gateway's disks: the size of the database file, and the sizes that its rows give
 * for its blobs. Reads no folder. A project whose database can't be read counts as empty.
 */
export async function projectSizes(
  {
    control,
    databases,
    hasBlobs,
  }: {
    readonly control: ControlStore;
    readonly databases: Databases;
    /** Blobs are in a folder, not in a bucket. */
    readonly hasBlobs: boolean;
  },
  only?: ReadonlySet<string>,
): Promise<Map<string, number>> {
  const ids = only ? [...only] : (await control.projects()).map(({ id }) => id);
  const sizes = new Map<string, number>();
  for (const id of ids) {
    const size = await sizeOf(databases, id, hasBlobs).catch(() => 0);
    sizes.set(id, size);
  }
  return sizes;
}

async function sizeOf(databases: Databases, id: string, hasBlobs: boolean): Promise<number> {
  const location = databases.ofProject(id);
  const ownBytes = location.kind === 'file' ? await fileBytes(location.path) : 0;
  if (!hasBlobs) return ownBytes;
  const reader = await openReadOnly(location);
  try {
    return ownBytes + (await reader.read((tx) => new Repositories(tx, id).blobs.totalBytes()));
  } finally {
    await reader.close();
  }
}

async function fileBytes(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
