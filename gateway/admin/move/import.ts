import { existsSync } from 'node:fs';
import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IMPORT_MARK } from '../../projects/open-control.ts';
import type { MovingProject } from '../../store/control/moves.ts';
import { migrateFile } from '../../store/database-copy.ts';
import type { Reader } from '../../../shared/store/engine/driver.ts';
import { endServerImport, importToServer } from '../../store/server-import.ts';
import { structureProblems } from '../../store/snapshot.ts';
import { CopyError } from '../../../shared/store/copy/table-copy.ts';
import { syncFile } from '../../lib/durable-files.ts';
import { AdminError } from '../admin-error.ts';
import {
  BucketTarget,
  folderTarget,
  sharedFolderTarget,
  type BlobTarget,
} from '../backup/blob-target.ts';
import { lookUp, openControlAccess, type ControlAccess } from './control-access.ts';
import { checkFile, copyTo, databaseFile, syncFolders } from '../backup/copies.ts';
import { DATABASE_FILE, exportedBlob } from './export.ts';
import { refuseAccount, refuseBroken, refuseSlug } from './import-checks.ts';
import { existingKey, fingerprintOf } from '../master-key.ts';
import { OrderError } from '../operator-call.ts';
import { ProjectCopy } from '../backup/project-copy.ts';
import { readProjectManifest, type ProjectManifest } from './project-manifest.ts';
import { keyFileOf, type AdminSettings } from '../settings.ts';

/** Where an import keeps everything until it's complete. */
const STAGE = 'importing';

export interface ImportOptions {
  readonly settings: AdminSettings;
  /** The export. Nothing in it is changed. */
  readonly folder: string;
  /** The project's new slug; null keeps the old one. */
  readonly slug: string | null;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  /** Progress of the rows, if the database goes to a server. */
  readonly onRows: (done: number, total: number) => void;
}

/**
 * Imports a project after checking all of it, whether a gateway runs or not. Its replicas copy it again. Throws an
 * `AdminError` that names what is damaged or in the way, and leaves the gateway unchanged. An interrupted import can be
 * repeated.
 */
export async function importProject(options: ImportOptions): Promise<ProjectManifest> {
  const { settings, folder } = options;
  const manifest = readProjectManifest(folder);
  const moving = movingOf(options, manifest);
  refuseSlug(moving);
  const masterKey = existingKey(keyFileOf(settings));
  refuseOtherKey(masterKey, manifest);
  const control = await openControlAccess(settings);
  try {
    await refuseTaken(options, moving);
    await install(options, { manifest, moving, masterKey, control });
    return { ...manifest, project: moving.project };
  } finally {
    await control.close();
  }
}

function movingOf({ slug }: ImportOptions, { project, account }: ProjectManifest): MovingProject {
  return {
    project: { ...project, ...(slug !== null && { slug }) },
    account: account && { ...account, address: Buffer.from(account.address, 'base64') },
  };
}

function refuseOtherKey(masterKey: Uint8Array, { master_key }: ProjectManifest): void {
  const own = fingerprintOf(masterKey);
  if (own === master_key) return;
  throw new AdminError(
    `The secrets of this project are sealed with the master key ${master_key}, and this gateway has ${own}. Both must have the same: name that key's file with SVC_MASTER_KEY_FILE here.`,
  );
}

async function refuseTaken(
  { settings, folder }: ImportOptions,
  { project }: MovingProject,
): Promise<void> {
  const same = await lookUp(settings, project.id);
  if (same) {
    const where = same.state === 'moved' ? ', and has moved to another one' : '';
    throw new AdminError(`This gateway has ${same.project.slug} (${project.id})${where}.`);
  }
  if (!(await lookUp(settings, project.slug))) return;
  throw new AdminError(
    `Another project of this gateway has the slug ${project.slug}. Give it a new one: svc gateway import ${folder} --slug NEW`,
  );
}

interface Taking {
  readonly manifest: ProjectManifest;
  readonly moving: MovingProject;
  readonly masterKey: Uint8Array;
  readonly control: ControlAccess;
}

/** If it fails, removes what it put in place, unless the gateway may have begun to use it. */
async function install(options: ImportOptions, taking: Taking): Promise<void> {
  const { settings } = options;
  const { id } = taking.moving.project;
  const folder = join(settings.dataFolder, 'projects', id);
  const stage = join(settings.dataFolder, STAGE, id);
  const blobs = blobTargetOf(settings, { id, stage });
  await clear(folder, stage);
  let mayBeUsed = false;
  try {
    await fill(options, { ...taking, stage, blobs });
    await bringToServer(options, { ...taking, stage });
    await putInPlace(settings, { id, stage, folder });
    mayBeUsed = true;
    await taking.control.adopt(taking.moving).catch((error: unknown) => {
      mayBeUsed = !(error instanceof OrderError);
      throw error;
    });
    await rm(join(folder, IMPORT_MARK), { force: true });
    const location = settings.databases.ofProject(id);
    // If this fails, the mark stays but no longer means anything.
    if (location.kind === 'remote') await endServerImport(location).catch(() => undefined);
  } catch (error) {
    await rm(stage, { recursive: true, force: true });
    if (!mayBeUsed) {
      await rollback(folder, stage);
      // Report the first error. An import on another machine may have found these blobs and rely on them.
      if (!settings.databases.onServer) await blobs.undo().catch(() => undefined);
    }
    throw error;
  } finally {
    blobs.close();
    await rmdir(join(settings.dataFolder, STAGE)).catch(() => undefined);
  }
}

/** Next to the database, where nothing is used before everything is there, or where all gateways keep them. */
function blobTargetOf(
  { blobs, blobsFolder }: AdminSettings,
  { id, stage }: { readonly id: string; readonly stage: string },
): BlobTarget {
  if (blobs) return new BucketTarget(blobs, id);
  return blobsFolder === null ? folderTarget(stage, id) : sharedFolderTarget(blobsFolder, id);
}

/** Removes what an interrupted import left. */
async function clear(folder: string, stage: string): Promise<void> {
  if (existsSync(folder) && !existsSync(join(folder, IMPORT_MARK))) {
    throw new AdminError(
      `${folder} already exists and belongs to no project of this gateway. Move it away first.`,
    );
  }
  await rm(stage, { recursive: true, force: true });
  await rollback(folder, stage);
  await mkdir(stage, { recursive: true, mode: 0o700 });
}

/** Removes a whole project at once: after a kill, the rest of a folder without its mark would belong to nobody and be in the way. */
async function rollback(folder: string, stage: string): Promise<void> {
  if (!existsSync(folder)) return;
  await mkdir(stage, { recursive: true, mode: 0o700 });
  await rename(folder, join(stage, 'taken away'));
  await rm(stage, { recursive: true, force: true });
}

interface Filling extends Taking {
  readonly stage: string;
  readonly blobs: BlobTarget;
}

async function fill(
  { folder, signal, onProgress }: ImportOptions,
  { manifest, moving, masterKey, stage, blobs }: Filling,
): Promise<void> {
  const from = join(folder, DATABASE_FILE);
  const { id } = manifest.project;
  const to = join(stage, databaseFile(id));
  await checkFile(from, manifest.database);
  await copyTo(from, to);
  const [problem] = structureProblems(to);
  if (problem !== undefined) throw new AdminError(`${from} is damaged: ${problem}`);
  const copy = ProjectCopy.ofFile(to, id);
  try {
    await refuseBroken(copy, { path: to, from, manifest, masterKey });
    refuseAccount(moving, masterKey);
    let done = 0;
    onProgress(0, manifest.blobs.count);
    for await (const blob of copy.blobs()) {
      signal.throwIfAborted();
      const file = exportedBlob(folder, blob.digest);
      await checkFile(file, { size_bytes: blob.sizeBytes, sha256: blob.digest });
      await blobs.store(blob, file);
      done += 1;
      onProgress(done, manifest.blobs.count);
    }
    signal.throwIfAborted();
  } finally {
    await copy.close();
  }
}

/** Copies the staged database to the server, if databases are on one. */
async function bringToServer(
  { settings: { databases }, signal, onRows }: ImportOptions,
  { manifest, stage }: Taking & { readonly stage: string },
): Promise<void> {
  const { id } = manifest.project;
  const location = databases.ofProject(id);
  if (location.kind === 'file') return;
  await databases.makeProject(id);
  const file = join(stage, databaseFile(id));
  await migrateFile(file);
  const origin = manifest.database.sha256;
  const check = (copy: Reader): Promise<void> => refuseBrokenCopy(copy, manifest);
  await importToServer(file, location, { origin, check, onProgress: onRows, signal }).catch(
    (error: unknown) => {
      if (!(error instanceof CopyError)) throw error;
      throw new AdminError(`The database of ${id} on the server: ${error.message}`, {
        cause: error,
      });
    },
  );
  await rm(file);
}

/** Reads the ledger back to verify that everything arrived unchanged. */
async function refuseBrokenCopy(reader: Reader, { project, ledger }: ProjectManifest) {
  const problem = await new ProjectCopy(reader, project.id).ledgerProblem(ledger);
  if (problem !== null)
    throw new AdminError(`The copy on the server: ${problem}. Repeat the import.`);
}

/** Marks the folder until the gateway knows the project, so that an interrupted import can be recognised. */
async function putInPlace(
  { dataFolder }: AdminSettings,
  { id, stage, folder }: { readonly id: string; readonly stage: string; readonly folder: string },
): Promise<void> {
  const ready = join(stage, 'projects', id);
  await writeFile(join(ready, IMPORT_MARK), '', { mode: 0o600 });
  await syncFolders(ready);
  await mkdir(join(dataFolder, 'projects'), { recursive: true, mode: 0o700 });
  await rename(ready, folder);
  await syncFile(join(dataFolder, 'projects'));
  await syncFile(dataFolder);
  await rm(stage, { recursive: true, force: true });
}
