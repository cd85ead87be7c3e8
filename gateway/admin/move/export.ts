import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { MovingProject } from '../../store/control/moves.ts';
import { copyDatabase } from '../../store/database-copy.ts';
import { CopyError } from '../../../shared/store/copy/table-copy.ts';
import { VERSION } from '../../../shared/lib/version.ts';
import { AdminError } from '../admin-error.ts';
import { BucketTarget, folderTarget, type BlobTarget } from '../backup/blob-target.ts';
import { databaseProblem } from '../check/check-database.ts';
import { lookUp, openControlAccess } from './control-access.ts';
import { stored } from '../backup/copies.ts';
import { writeManifest } from '../backup/manifest.ts';
import { existingKey, fingerprintOf } from '../master-key.ts';
import { makeFolderWhole, refuseExisting } from '../backup/new-folder.ts';
import { ProjectCopy } from '../backup/project-copy.ts';
import { projectManifestOf, type ProjectManifest } from './project-manifest.ts';
import { watchKey } from '../backup/same-key.ts';
import { copyBlobs, copySteadily } from '../backup/steady-copy.ts';
import { keyFileOf, type AdminSettings } from '../settings.ts';

/** The database in an export. Its blobs are next to it, as in a data folder. */
export const DATABASE_FILE = 'project.db';

export interface ExportOptions {
  readonly settings: AdminSettings;
  /** Slug or id. */
  readonly project: string;
  /** Created; must not exist yet. */
  readonly folder: string;
  /** Whether to make it read-only from now on. It stays read-only even if the export fails. */
  readonly hold: boolean;
  readonly now: number;
  readonly signal: AbortSignal;
  readonly onHeld: (slug: string) => void;
  readonly onProgress: (done: number, total: number) => void;
  /** Progress of the rows, if the database is on a server. */
  readonly onRows: (done: number, total: number) => void;
}

/** The path of a blob in an export. */
export function exportedBlob(folder: string, digest: string): string {
  return join(folder, 'blobs', digest.slice(0, 2), digest);
}

/**
 * Copies one project as of one moment, whether a gateway runs or not. Throws an `AdminError` and then leaves no folder
 * behind.
 */
export async function exportProject(options: ExportOptions): Promise<ProjectManifest> {
  const { settings, folder } = options;
  refuseExisting(folder);
  const moving = await movable(options);
  // The key of databases on a server can't be changed.
  const refuseOtherKey = settings.databases.onServer ? null : await watchKey(settings.dataFolder);
  const masterKey = existingKey(keyFileOf(settings));
  if (options.hold) await hold(options, moving);
  return makeFolderWhole(folder, 'export', async (partial) => {
    const copied = await copyAll(options, partial, moving);
    await refuseOtherKey?.();
    const manifest = projectManifestOf({
      ...copied,
      held: options.hold || moving.isHeld,
      master_key: fingerprintOf(masterKey),
    });
    return { made: manifest, files: writeManifest(partial, manifest) };
  });
}

async function movable({
  settings,
  project,
}: ExportOptions): Promise<MovingProject & { readonly isHeld: boolean }> {
  const { databases, dataFolder } = settings;
  if (databases.control.kind === 'file' && !existsSync(databases.control.path)) {
    throw new AdminError(
      `${dataFolder} holds no gateway data. Name the data folder with --data or SVC_DATA.`,
    );
  }
  const found = await lookUp(settings, project);
  if (!found || found.state === 'reserved' || found.state === 'deleting') {
    throw new AdminError(`No project has the slug or id ${project}. See: svc gateway project list`);
  }
  if (found.state === 'moved') {
    throw new AdminError(`${found.project.slug} has moved to another gateway: export it there.`);
  }
  return { ...found, isHeld: found.state === 'held' };
}

async function hold(options: ExportOptions, { project }: MovingProject): Promise<void> {
  const control = await openControlAccess(options.settings);
  try {
    await control.hold(project.id);
  } finally {
    await control.close();
  }
  options.onHeld(project.slug);
}

type ManifestContent = Omit<ProjectManifest, 'kind' | 'format' | 'held' | 'master_key'>;

async function copyAll(
  options: ExportOptions,
  to: string,
  { project, account }: MovingProject,
): Promise<ManifestContent> {
  const { id, slug, name, created_at } = project;
  const address = account && Buffer.from(account.address).toString('base64');
  const target = blobTargetOf(options.settings, id);
  const clear = async (): Promise<void> => {
    await rm(to, { recursive: true });
    await mkdir(to, { mode: 0o700 });
  };
  try {
    await refuseDamaged(options.settings, id);
    const attempt = (): ReturnType<typeof copyOnce> =>
      copyOnce(options, { to, target, projectId: id });
    return {
      version: VERSION,
      created_at: isoTime(options.now),
      project: { id, slug, name, created_at },
      account: account && address !== null ? { ...account, address } : null,
      ...(await copySteadily(target.marks, attempt, clear)),
    };
  } finally {
    target.close();
  }
}

/** A copy would carry damage on to another gateway. */
async function refuseDamaged({ databases, dataFolder }: AdminSettings, id: string): Promise<void> {
  const location = databases.ofProject(id);
  if (location.kind !== 'file' || !existsSync(location.path)) return;
  const problem = await databaseProblem(location.path, { dataFolder, project: id });
  if (problem === null) return;
  throw new AdminError(
    `${location.path} ${problem}. Repair it first: svc gateway repair --data ${dataFolder} --from BACKUP`,
  );
}

async function copyOnce(
  { settings, signal, onProgress, onRows }: ExportOptions,
  {
    to,
    target,
    projectId,
  }: { readonly to: string; readonly target: BlobTarget; readonly projectId: string },
): Promise<Pick<ProjectManifest, 'database' | 'position' | 'ledger' | 'blobs'>> {
  const path = join(to, DATABASE_FILE);
  const from = settings.databases.ofProject(projectId);
  if (from.kind === 'file' && !existsSync(from.path)) {
    throw new AdminError(`The database of the project is missing: ${from.path}`);
  }
  const watch = { onProgress: onRows, signal };
  await copyDatabase(from, path, watch).catch((error: unknown) => {
    if (!(error instanceof CopyError)) throw error;
    throw new AdminError(error.message, { cause: error });
  });
  const copy = ProjectCopy.ofFile(path, projectId);
  try {
    const total = await copy.blobCount();
    onProgress(0, total);
    const blobs = await copyBlobs(copy, target, {
      fileOf: (digest) => exportedBlob(to, digest),
      signal,
      onBlob: (done) => onProgress(done, total),
    });
    signal.throwIfAborted();
    return { database: await stored(path), ...(await copy.position()), blobs };
  } finally {
    await copy.close();
  }
}

/** This gateway's blob store for a project. */
function blobTargetOf(
  { blobs, blobsFolder, dataFolder }: AdminSettings,
  projectId: string,
): BlobTarget {
  return blobs
    ? new BucketTarget(blobs, projectId)
    : folderTarget(blobsFolder ?? dataFolder, projectId);
}
