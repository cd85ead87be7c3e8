import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isoTime } from '../../../shared/lib/clock.ts';
import { ControlStore, projectsIn, type ProjectRecord } from '../../store/control-store.ts';
import { DamageRegister } from '../../../shared/store/sums/damage.ts';
import { snapshot } from '../../store/snapshot.ts';
import { VERSION } from '../../../shared/lib/version.ts';
import { AdminError } from '../admin-error.ts';
import { folderTarget, type BlobTarget } from './blob-target.ts';
import { databaseProblem, type DatabaseFinding } from '../check/check-database.ts';
import { blobFile, copyTo, databaseFile, projectFolders, stored } from './copies.ts';
import {
  manifestOf,
  writeManifest,
  type DamagedFile,
  type Manifest,
  type ProjectEntry,
  type StoredFile,
} from './manifest.ts';
import { readKey } from '../master-key.ts';
import { makeFolderWhole, refuseExisting } from './new-folder.ts';
import { ProjectCopy } from './project-copy.ts';
import { watchKey } from './same-key.ts';
import { BlobTroubles, copyBlobs, copySteadily } from './steady-copy.ts';

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
  /** Called for each damaged file that isn't copied anyway, because it's made anew. */
  readonly onSpare: (found: DatabaseFinding) => void;
  /** Also called for each blob, with the number of blobs copied so far. */
  readonly onProgress: (done: number, total: number, blobs: number) => void;
}

/**
 * Copies everything a gateway has, whether it's running or not. Each project is copied as of one moment and includes
 * everything that was acknowledged before the backup began. Throws an `AdminError` and then leaves nothing behind.
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { folder } = options;
  refuseExisting(folder);
  const isThere = ['control.db', 'projects'].some((name) =>
    existsSync(join(options.dataFolder, name)),
  );
  if (!isThere) {
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
  const { bucket, now } = options;
  const control = await copyControl(options, to);
  const projects = await copyProjects(options, to, control.records);
  const { key, damage } = await copyKey(options, to);
  const lacks = [...control.damage, ...damage];
  return manifestOf({
    version: VERSION,
    created_at: isoTime(now),
    bucket,
    key,
    // The copy is final: the deletions are already recorded in it.
    control: control.file === null ? null : await stored(control.file),
    ...(lacks.length > 0 && { damage: lacks }),
    projects,
  });
}

/** Copies the control database unless it's damaged, and lists the projects: one created later began after the backup. */
async function copyControl(
  { dataFolder, onSpare }: BackupOptions,
  to: string,
): Promise<{
  readonly file: string | null;
  readonly records: readonly ProjectRecord[];
  readonly damage: readonly DamagedFile[];
}> {
  const name = 'control.db';
  const [from, copy] = [join(dataFolder, name), join(to, name)];
  const problem = await databaseProblem(from, { dataFolder, project: null }, onSpare);
  if (problem === null) {
    await snapshot(from, copy);
    return { file: copy, records: await projectsIn(copy), damage: [] };
  }
  const damage = [{ file: name, what: 'database', problem }];
  return { file: null, records: await likelyProjects(dataFolder), damage };
}

/** What a damaged control database still says, plus the projects that still have a database. */
async function likelyProjects(dataFolder: string): Promise<ProjectRecord[]> {
  const known = await projectsIn(join(dataFolder, 'control.db')).catch(() => []);
  const ids = await projectFolders(dataFolder);
  const others = ids
    .filter((id) => known.every((record) => record.id !== id))
    .map((id) => ({ id, slug: id, name: id, state: 'active' as const, created_at: '' }));
  return [...known, ...others];
}

async function copyKey(
  { dataFolder, keyFile }: BackupOptions,
  to: string,
): Promise<{ readonly key: StoredFile | null; readonly damage: readonly DamagedFile[] }> {
  if (keyFile === null) return { key: null, damage: [] };
  const found = readKey(keyFile);
  if (typeof found === 'string') {
    const file = new DamageRegister(dataFolder).nameOf(keyFile);
    return { key: null, damage: [{ file, what: 'master key', problem: found }] };
  }
  const copy = join(to, 'master.key');
  await copyTo(keyFile, copy);
  return { key: await stored(copy), damage: [] };
}

async function copyProjects(
  options: BackupOptions,
  to: string,
  records: readonly ProjectRecord[],
): Promise<ProjectEntry[]> {
  const { signal, onProgress } = options;
  const projects: ProjectEntry[] = [];
  const deleted: string[] = [];
  let blobs = 0;
  const tell = (more = 0): void => onProgress(projects.length, records.length, blobs + more);
  tell();
  for (const record of records) {
    signal.throwIfAborted();
    const entry = await copyUnlessDeleted({ ...options, onBlob: tell }, to, record);
    if (entry === 'deleted') deleted.push(record.id);
    const kept = entry === 'deleted' ? emptyEntry(record) : entry;
    projects.push(kept);
    blobs += kept.blobs.count;
    tell();
  }
  const control = join(to, 'control.db');
  if (deleted.length > 0 && existsSync(control)) await noteDeleted(control, deleted);
  return projects;
}

/** If the project has been deleted meanwhile, that explains what went wrong. */
async function copyUnlessDeleted(
  options: ProjectOptions,
  to: string,
  record: ProjectRecord,
): Promise<ProjectEntry | 'deleted'> {
  const isDeletedNow = async (): Promise<boolean> => {
    if (!(await isDeleted(options.dataFolder, record.id))) return false;
    await rm(join(to, 'projects', record.id), { recursive: true, force: true });
    return true;
  };
  try {
    const entry = await copyProject(options, to, record);
    const isWhole = entry.database !== null || record.state !== 'active';
    return isWhole || !(await isDeletedNow()) ? entry : 'deleted';
  } catch (error) {
    if (await isDeletedNow()) return 'deleted';
    throw error;
  }
}

/** Whether the project has been deleted since the backup began, or is being deleted. */
async function isDeleted(dataFolder: string, projectId: string): Promise<boolean> {
  const now = await projectsIn(join(dataFolder, 'control.db')).catch(() => null);
  // We can't know, so report what went wrong.
  if (now === null) return false;
  const record = now.find(({ id }) => id === projectId);
  return record === undefined || record.state === 'deleting';
}

/** In the backup, too, the projects are being deleted, so that a restored gateway doesn't look for their data. */
async function noteDeleted(control: string, projectIds: readonly string[]): Promise<void> {
  const store = await ControlStore.open({ kind: 'file', path: control }, () => undefined);
  for (const id of projectIds) await store.deletions.begin(id);
  await store.close();
}

interface ProjectOptions extends Pick<
  BackupOptions,
  'dataFolder' | 'bucket' | 'signal' | 'onSpare'
> {
  readonly onBlob: (done: number) => void;
}

async function copyProject(
  options: ProjectOptions,
  to: string,
  record: ProjectRecord,
): Promise<ProjectEntry> {
  const { dataFolder, onSpare } = options;
  const { id, state } = record;
  if (!existsSync(join(dataFolder, databaseFile(id)))) {
    // Its creation was interrupted; the gateway's next start finishes it.
    if (state === 'reserved') return emptyEntry(record);
    // It has moved or is being deleted, and its data here was removed.
    if (state === 'moved' || state === 'deleting') return emptyEntry(record);
    return withoutDatabase(record, 'is missing');
  }
  const path = join(dataFolder, databaseFile(id));
  const problem = await databaseProblem(path, { dataFolder, project: id }, onSpare);
  if (problem !== null) return withoutDatabase(record, problem);
  const target = folderTarget(dataFolder, id);
  const troubles = new BlobTroubles();
  const clear = (): Promise<void> => rm(join(to, 'projects', id), { recursive: true, force: true });
  try {
    return await copySteadily(
      target.marks,
      () => copyOnce(options, { to, target, record, troubles }),
      clear,
    );
  } catch (error) {
    if (!(error instanceof DamagedDatabaseError)) throw error;
    await clear();
    return withoutDatabase(record, error.message);
  }
}

/** A project's database can't be copied, and so nothing of the project. The message says what is wrong with it. */
class DamagedDatabaseError extends Error {}

function withoutDatabase(record: ProjectRecord, problem: string): ProjectEntry {
  const file = databaseFile(record.id);
  return { ...emptyEntry(record), damage: [{ file, what: 'database', problem }] };
}

async function copyOnce(
  { dataFolder, bucket, signal, onBlob }: ProjectOptions,
  {
    to,
    target,
    record: { id, slug },
    troubles,
  }: {
    readonly to: string;
    readonly target: BlobTarget;
    readonly record: ProjectRecord;
    readonly troubles: BlobTroubles;
  },
): Promise<ProjectEntry> {
  const path = join(to, databaseFile(id));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await snapshot(join(dataFolder, databaseFile(id)), path);
  const copy = ProjectCopy.ofFile(path, id);
  try {
    const fileOf = (digest: string): string => join(to, blobFile(id, digest));
    const blobs =
      bucket === null
        ? await copyBlobs(copy, target, { fileOf, signal, onBlob, troubles })
        : await listBlobs(copy, id, signal);
    const position = await copy.position();
    const problem = await copy.ledgerProblem(position.ledger);
    if (problem !== null) throw new DamagedDatabaseError(problem);
    const damage = [...troubles.found].map(([digest, what]) => ({
      file: blobFile(id, digest),
      what: 'blob',
      problem: what,
    }));
    const entry = { id, slug, database: await stored(path), ...position, blobs };
    return damage.length === 0 ? entry : { ...entry, damage };
  } finally {
    await copy.close();
  }
}

/** The blobs of a project in a bucket, by their keys. */
async function listBlobs(
  copy: ProjectCopy,
  projectId: string,
  signal: AbortSignal,
): Promise<ProjectEntry['blobs']> {
  const keys: string[] = [];
  let sizeBytes = 0;
  for await (const blob of copy.blobs()) {
    signal.throwIfAborted();
    keys.push(`projects/${projectId}/blobs/${blob.digest}`);
    sizeBytes += blob.sizeBytes;
  }
  return { count: keys.length, size_bytes: sizeBytes, keys };
}

function emptyEntry({ id, slug }: ProjectRecord): ProjectEntry {
  const blobs = { count: 0, size_bytes: 0 };
  return { id, slug, database: null, position: 0, ledger: null, blobs };
}
