import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isoTime } from '../../shared/lib/clock.ts';
import { projectsIn, type ProjectRecord } from '../store/control-store.ts';
import { snapshot } from '../store/snapshot.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { AdminError } from './admin-error.ts';
import { blobFile, checkFile, copyTo, databaseFile, stored } from './copies.ts';
import { manifestOf, writeManifest, type Manifest, type ProjectEntry } from './manifest.ts';
import { makeFolderWhole, refuseExisting } from './new-folder.ts';
import { ProjectCopy } from './project-copy.ts';
import { watchKey } from './same-key.ts';

/** Retry: if a blob is deleted during the copy, a later snapshot doesn't name it. */
const ATTEMPTS_MAX = 5;

export interface BackupOptions {
  readonly dataFolder: string;
  /** Created; must not exist yet. */
  readonly folder: string;
  /** The master key, if it goes into the backup too. */
  readonly keyFile: string | null;
  /** The bucket that holds the blobs; null if they're next to the databases. */
  readonly bucket: string | null;
  readonly now: number;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Copies everything a gateway has, whether it's running or not. Each project is copied as of one moment and includes
 * everything that was acknowledged before the backup began. Throws an `AdminError` and then leaves nothing behind.
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { folder } = options;
  refuseExisting(folder);
  if (!existsSync(join(options.dataFolder, 'control.db'))) {
    throw new AdminError(
      `${options.dataFolder} holds no gateway data. Name the data folder with --data or SVC_DATA.`,
    );
  }
  const refuseOtherKey = await watchKey(options.dataFolder);
  return makeFolderWhole(folder, 'backup', async (partial) => {
    const manifest = await copyAll(options, partial);
    await refuseOtherKey();
    return { made: manifest, files: writeManifest(partial, manifest) };
  });
}

async function copyAll(options: BackupOptions, to: string): Promise<Manifest> {
  const { dataFolder, keyFile, bucket, now, signal, onProgress } = options;
  // Read the list of projects first: a project created later began after the backup.
  const control = join(to, 'control.db');
  await snapshot(join(dataFolder, 'control.db'), control);
  const records = await projectsIn(control);
  const projects: ProjectEntry[] = [];
  onProgress(0, records.length);
  for (const record of records) {
    signal.throwIfAborted();
    projects.push(await copyProject(options, to, record));
    onProgress(projects.length, records.length);
  }
  const key = keyFile === null ? null : await copyKey(keyFile, join(to, 'master.key'));
  return manifestOf({
    version: VERSION,
    created_at: isoTime(now),
    bucket,
    key,
    control: await stored(control),
    projects,
  });
}

async function copyKey(from: string, to: string) {
  await copyTo(from, to, false);
  return stored(to);
}

async function copyProject(
  options: BackupOptions,
  to: string,
  record: ProjectRecord,
): Promise<ProjectEntry> {
  const { id, slug, state } = record;
  if (!existsSync(join(options.dataFolder, databaseFile(id)))) {
    // Its creation was interrupted; the gateway's next start finishes it.
    if (state === 'reserved') return emptyEntry(record);
    // It has moved or is being deleted, and its data here was removed.
    if (state === 'moved' || state === 'deleting') return emptyEntry(record);
    throw new AdminError(`The database of project ${slug} (${id}) is missing.`);
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copyOnce(options, to, record);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || attempt === ATTEMPTS_MAX) throw error;
      await rm(join(to, 'projects', id), { recursive: true, force: true });
    }
  }
}

async function copyOnce(
  { dataFolder, bucket, signal }: BackupOptions,
  to: string,
  { id, slug }: ProjectRecord,
): Promise<ProjectEntry> {
  const path = join(to, databaseFile(id));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await snapshot(join(dataFolder, databaseFile(id)), path);
  const copy = ProjectCopy.ofFile(path, id);
  const blobs = { count: 0, size_bytes: 0 };
  const keys: string[] = [];
  try {
    for await (const { digest, sizeBytes } of copy.blobs()) {
      signal.throwIfAborted();
      blobs.count += 1;
      blobs.size_bytes += sizeBytes;
      if (bucket === null) {
        const file = blobFile(id, digest);
        await copyTo(join(dataFolder, file), join(to, file), true);
        await checkFile(join(to, file), { size_bytes: sizeBytes, sha256: digest });
      } else keys.push(`projects/${id}/blobs/${digest}`);
    }
    const position = await copy.position();
    const database = await stored(path);
    return { id, slug, database, ...position, blobs: bucket === null ? blobs : { ...blobs, keys } };
  } finally {
    await copy.close();
  }
}

function emptyEntry({ id, slug }: ProjectRecord): ProjectEntry {
  const blobs = { count: 0, size_bytes: 0 };
  return { id, slug, database: null, position: 0, ledger: null, blobs };
}
