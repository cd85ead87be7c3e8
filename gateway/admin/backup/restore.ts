import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../shared/host/make-folder.ts';
import { ControlStore } from '../../store/control-store.ts';
import { takeLock } from '../../../shared/store/engine/lock.ts';
import { structureProblems } from '../../store/snapshot.ts';
import { errorCode } from '../../../shared/lib/guards.ts';
import { syncFile } from '../../lib/durable-files.ts';
import { RESTORE_STAGE } from '../../lib/data-folder.ts';
import { loadMasterKey } from '../../lib/vault.ts';
import { AdminError } from '../admin-error.ts';
import { blobFile, checkFile, copyTo, databaseFile, syncFolders } from './copies.ts';
import { readManifest, type Manifest, type ProjectEntry, type StoredFile } from './manifest.ts';
import { ProjectCopy } from './project-copy.ts';

const LOCK_FILES = ['lock', 'lock-journal'];
/** What the data folder may already contain: the key, which most backups don't include, and our own lock. */
const EXPECTED = ['master.key', ...LOCK_FILES];

export interface RestoreOptions {
  /** The backup. Nothing in it is changed. */
  readonly folder: string;
  /** Created if it's missing; must be empty except for the master key. */
  readonly dataFolder: string;
  /** Null means: in the data folder, or else in the backup. */
  readonly keyFile: string | null;
  /** The bucket where the gateway will look for blobs; null for none. */
  readonly bucket: string | null;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Restores a backup into an empty data folder after checking every file. Replicas of its projects copy them again.
 * Throws an `AdminError` that names what is damaged or in the way, and leaves the data folder unchanged.
 */
export async function restore(options: RestoreOptions): Promise<Manifest> {
  const { folder, dataFolder, bucket } = options;
  const manifest = readManifest(folder);
  if (manifest.bucket !== bucket) {
    const where = manifest.bucket ?? 'the backup itself';
    throw new AdminError(`The blobs of this backup are in ${where}, and SVC_BLOBS says otherwise.`);
  }
  const made = makeData(dataFolder);
  const newLocks = LOCK_FILES.map((name) => join(dataFolder, name)).filter(
    (file) => !existsSync(file),
  );
  const lock = takeLock(join(dataFolder, 'lock'));
  if (!lock)
    throw new AdminError(`Another process is using the data in ${dataFolder}. Stop it first.`);
  let isDone = false;
  try {
    await refuseUsed(dataFolder);
    await fill(options, manifest);
    isDone = true;
    return manifest;
  } finally {
    // Hold the lock meanwhile, so that no other process relies on the folder.
    if (!isDone) await removeAll(newLocks);
    lock.release();
    if (!isDone) await removeEmpty(made);
  }
}

/** Leaves a folder in place if it isn't empty any more. */
async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await rmdir(folder).catch(() => undefined);
}

/** The folders that were created, deepest first. */
function makeData(dataFolder: string): string[] {
  try {
    return makeFolder(dataFolder);
  } catch (error) {
    const code = errorCode(error) ?? String(error);
    throw new AdminError(
      `${dataFolder} can't be created (${code}). Name another folder with --data or SVC_DATA.`,
      { cause: error },
    );
  }
}

/** If it fails, removes what it created. */
async function fill(options: RestoreOptions, manifest: Manifest): Promise<void> {
  const { dataFolder, keyFile } = options;
  const stage = join(dataFolder, RESTORE_STAGE);
  const inPlace = ['projects', 'control.db'].map((name) => join(dataFolder, name));
  const key = keyFile ?? join(dataFolder, 'master.key');
  const made = [...inPlace, stage, ...(existsSync(key) ? [] : [key])];
  try {
    // An interrupted restore starts over.
    await removeAll([join(dataFolder, 'projects'), stage]);
    await mkdir(stage, { mode: 0o700 });
    await mkdir(join(stage, 'projects'), { mode: 0o700 });
    const keySource = await keyOf(options, manifest);
    await copyAll(options, manifest, loadMasterKey(keySource), stage);
    // Do this late, so that a killed restore leaves no key that looks like an earlier one.
    if (keySource !== key) await copyTo(keySource, key);
    await putInPlace(stage, dataFolder);
  } catch (error) {
    // Report the first error.
    await removeAll(made).catch(() => undefined);
    throw error;
  }
}

async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true });
}

/** Projects next to the stage without a control database come from a restore that was interrupted while moving them. */
async function refuseUsed(dataFolder: string): Promise<void> {
  const found = await readdir(dataFolder);
  const isCutShort = found.includes(RESTORE_STAGE);
  const allowed = [...EXPECTED, ...(isCutShort ? [RESTORE_STAGE, 'projects'] : [])];
  const other = found.find((name) => !allowed.includes(name));
  if (other === undefined) return;
  throw new AdminError(
    `${dataFolder} isn't empty: it contains ${other}. Name a new folder with --data or SVC_DATA.`,
  );
}

/** The key's file: where the gateway looks for it, or else in the backup. */
async function keyOf(options: RestoreOptions, { key }: Manifest): Promise<string> {
  const { folder, dataFolder, keyFile } = options;
  const place = keyFile ?? join(dataFolder, 'master.key');
  if (existsSync(place)) return place;
  const own = join(folder, 'master.key');
  if (key) {
    await checkFile(own, key);
    return own;
  }
  throw new AdminError(
    `The master key is missing, and this backup doesn't contain it. Put it at ${place}, or name it with SVC_MASTER_KEY_FILE.`,
  );
}

async function copyAll(
  options: RestoreOptions,
  manifest: Manifest,
  masterKey: Uint8Array,
  stage: string,
): Promise<void> {
  const { folder, signal, onProgress } = options;
  const { control, projects } = manifest;
  if (control) await copyControl(folder, control, stage);
  onProgress(0, projects.length);
  for (const [index, entry] of projects.entries()) {
    signal.throwIfAborted();
    if (entry.database) await copyProject(options, entry, masterKey, stage);
    onProgress(index + 1, projects.length);
  }
  if (!control) return;
  // Find what is due by reading each project, because the stored due times are older than the copies.
  const store = await ControlStore.open(
    { kind: 'file', path: join(stage, 'control.db') },
    () => undefined,
  );
  await store.idleMarkers.endAll();
  await store.chats.doubtAll();
  await store.close();
}

async function copyControl(folder: string, wanted: StoredFile, stage: string): Promise<void> {
  const from = join(folder, 'control.db');
  const to = join(stage, 'control.db');
  await checkFile(from, wanted);
  await copyTo(from, to);
  refuseBroken(to, from);
}

async function copyProject(
  { folder, signal }: RestoreOptions,
  entry: ProjectEntry,
  masterKey: Uint8Array,
  stage: string,
): Promise<void> {
  const { id, slug, database, ledger, blobs, damage = [] } = entry;
  const lacking = new Set(damage.map(({ file }) => file));
  const from = join(folder, databaseFile(id));
  const to = join(stage, databaseFile(id));
  if (database) await checkFile(from, database);
  await copyTo(from, to);
  refuseBroken(to, from);
  const copy = ProjectCopy.ofFile(to, id);
  try {
    const problem = await copy.ledgerProblem(ledger);
    if (problem !== null) throw new AdminError(`${from} (project ${slug}): ${problem}.`);
    if (!(await copy.opensWith(masterKey))) {
      throw new AdminError(
        `This isn't the master key that the secrets of project ${slug} were sealed with. Put the right one in place, or name it with SVC_MASTER_KEY_FILE.`,
      );
    }
    for await (const { digest, sizeBytes } of blobs.keys ? [] : copy.blobs()) {
      signal.throwIfAborted();
      const file = blobFile(id, digest);
      if (lacking.has(file)) continue;
      await checkFile(join(folder, file), { size_bytes: sizeBytes, sha256: digest });
      await copyTo(join(folder, file), join(stage, file));
    }
  } finally {
    await copy.close();
  }
}

function refuseBroken(copy: string, original: string): void {
  const [problem] = structureProblems(copy);
  if (problem !== undefined) throw new AdminError(`${original} is damaged: ${problem}`);
}

/**
 * Moves the control database last, because a gateway can't start without it. A backup that lacks it leaves the rest, for
 * a repair to add one.
 */
async function putInPlace(stage: string, dataFolder: string): Promise<void> {
  await syncFolders(stage);
  await rename(join(stage, 'projects'), join(dataFolder, 'projects'));
  await syncFile(dataFolder);
  const control = join(stage, 'control.db');
  if (existsSync(control)) await rename(control, join(dataFolder, 'control.db'));
  await rm(stage, { recursive: true, force: true });
  await syncFile(dataFolder);
}
