import { join } from 'node:path';
import type { ControlStore, ProjectRecord } from '../store/control-store.ts';
import { listing } from '../lib/durable-files.ts';
import type { BlobsConfig } from './blobs-config.ts';

const DATA_FOLDER = 'file:';
/** How many folders a start looks into. The first file ends the search. */
const FOLDERS_MAX = 2000;
const SHARD = /^[0-9a-f]{2}$/;
const DIGEST = /^[0-9a-f]{64}$/;

interface Settings {
  readonly dataFolder: string;
  readonly blobs?: BlobsConfig;
}

/**
 * What to tell the operator if SVC_BLOBS has changed and files are left where this gateway no longer looks; null if there
 * are none. A former bucket can't be searched, so the warning says that it may still have files.
 */
export async function formerFilesWarning(
  { dataFolder, blobs }: Settings,
  control: Pick<ControlStore, 'noteBlobsLocation' | 'projects'>,
): Promise<string | null> {
  const location = locationOf(blobs);
  const before = (await control.noteBlobsLocation(location)) ?? location;
  if (location === DATA_FOLDER && before === location) return null;
  const ids = idsOf(await control.projects());
  if (location !== DATA_FOLDER && (await hasFiles(dataFolder, ids)))
    return text(DATA_FOLDER, 'has');
  if (before === location || before === DATA_FOLDER || ids.length === 0) return null;
  if (!before.startsWith('file:')) return text(before, 'may have');
  return (await hasFiles(before.slice('file:'.length), ids)) ? text(before, 'has') : null;
}

/** The value of SVC_BLOBS, without the parts that don't affect the location. */
function locationOf(blobs: BlobsConfig | undefined): string {
  if (blobs?.kind === 's3') return `s3://${blobs.bucket}?endpoint=${blobs.endpoint.origin}`;
  return blobs?.folder === undefined ? DATA_FOLDER : `file:${blobs.folder}`;
}

function text(former: string, has: 'has' | 'may have'): string {
  const location = former === DATA_FOLDER ? 'the data folder' : former;
  return (
    `SVC_BLOBS has changed: ${location} ${has} files, and this gateway doesn't look there any more. ` +
    `Set SVC_BLOBS back to ${former}. To keep files elsewhere, move the projects to a second gateway: docs/outgrow.md.`
  );
}

function idsOf(projects: readonly ProjectRecord[]): string[] {
  return projects.filter(({ state }) => state === 'active' || state === 'held').map(({ id }) => id);
}

async function hasFiles(folder: string, projectIds: readonly string[]): Promise<boolean> {
  let left = FOLDERS_MAX;
  for (const id of projectIds) {
    const blobs = join(folder, 'projects', id, 'blobs');
    left -= 1;
    for (const shard of (await listing(blobs)).filter((name) => SHARD.test(name))) {
      if (left <= 0) return false;
      left -= 1;
      if ((await listing(join(blobs, shard))).some((name) => DIGEST.test(name))) return true;
    }
  }
  return false;
}
