import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ControlStore } from '../../shared/store/control-store.ts';
import { takeLock } from '../../shared/store/lock.ts';
import { structureProblems } from '../../shared/store/snapshot.ts';
import { syncFile } from '../blobs/blob-files.ts';
import { loadMasterKey } from '../vault.ts';
import { AdminError } from './admin-error.ts';
import { blobFile, checkFile, copyTo, databaseFile, syncFolders } from './copies.ts';
import { readManifest, type Manifest, type ProjectEntry } from './manifest.ts';
import { ProjectCopy } from './project-copy.ts';

/** What may be in the data folder beforehand: the key, which is not part of most backups, and our own lock. */
const EXPECTED = ['master.key', 'lock', 'lock-journal'];
/** Where everything lies until all of it is there. One that was cut short is begun anew. */
const STAGE = 'restoring';

export interface RestoreOptions {
  /** The backup. Nothing in it is changed. */
  readonly folder: string;
  /** Made when it is not there; must be empty but for the master key. */
  readonly dataFolder: string;
  /** Null takes it from the data folder, or else from the backup. */
  readonly keyFile: string | null;
  /** The bucket that the gateway will look for blobs in; null for none. */
  readonly bucket: string | null;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Puts a backup into an empty data folder, after checking every file of it. Replicas of the projects copy them afresh.
 * Throws an `AdminError` that names what is damaged or in the way; there is no control database then, so nothing starts on half of it.
 */
export async function restore(options: RestoreOptions): Promise<Manifest> {
  const { folder, dataFolder, bucket } = options;
  const manifest = readManifest(folder);
  if (manifest.bucket !== bucket) {
    const where = manifest.bucket ?? 'the backup itself';
    throw new AdminError(`The blobs of this backup are in ${where}, and SVC_BLOBS says otherwise.`);
  }
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const lock = takeLock(join(dataFolder, 'lock'));
  if (!lock) throw new AdminError(`Another process has the data in ${dataFolder}. End it first.`);
  try {
    await refuseUsed(dataFolder);
    const masterKey = await keyOf(options, manifest);
    const stage = join(dataFolder, STAGE);
    await rm(stage, { recursive: true, force: true });
    await mkdir(join(stage, 'projects'), { recursive: true, mode: 0o700 });
    await copyAll(options, manifest, masterKey, stage);
    await putInPlace(stage, dataFolder);
    return manifest;
  } finally {
    lock.release();
  }
}

async function refuseUsed(dataFolder: string): Promise<void> {
  const found = (await readdir(dataFolder)).filter((name) => !EXPECTED.includes(name));
  const [other] = found.filter((name) => name !== STAGE);
  if (other === undefined) return;
  throw new AdminError(
    `${dataFolder} is not empty: there is ${other}. Name a new folder by --data or SVC_DATA.`,
  );
}

/** The key stays where it is, or comes out of the backup into the data folder. */
async function keyOf(options: RestoreOptions, { key }: Manifest): Promise<Uint8Array> {
  const { folder, dataFolder, keyFile } = options;
  const place = keyFile ?? join(dataFolder, 'master.key');
  if (!existsSync(place) && key) {
    await checkFile(join(folder, 'master.key'), key);
    await copyTo(join(folder, 'master.key'), place, false);
  }
  if (existsSync(place)) return loadMasterKey(place);
  throw new AdminError(
    `The master key is missing, and this backup does not hold it. Put it at ${place}, or name it by SVC_MASTER_KEY_FILE.`,
  );
}

async function copyAll(
  options: RestoreOptions,
  manifest: Manifest,
  masterKey: Uint8Array,
  stage: string,
): Promise<void> {
  const { folder, signal, onProgress } = options;
  const control = join(folder, 'control.db');
  await checkFile(control, manifest.control);
  await copyTo(control, join(stage, 'control.db'), false);
  refuseBroken(join(stage, 'control.db'), control);
  const { projects } = manifest;
  onProgress(0, projects.length);
  for (const [index, entry] of projects.entries()) {
    signal.throwIfAborted();
    if (entry.database) await copyProject(options, entry, masterKey, stage);
    onProgress(index + 1, projects.length);
  }
  // What falls due in each is found by looking: the notes of that are older than the copies.
  const store = new ControlStore(join(stage, 'control.db'), () => undefined);
  await store.rests.endAll();
  await store.close();
}

async function copyProject(
  { folder, signal }: RestoreOptions,
  entry: ProjectEntry,
  masterKey: Uint8Array,
  stage: string,
): Promise<void> {
  const { id, slug, database, ledger, blobs } = entry;
  const from = join(folder, databaseFile(id));
  const to = join(stage, databaseFile(id));
  if (database) await checkFile(from, database);
  await copyTo(from, to, false);
  refuseBroken(to, from);
  const copy = new ProjectCopy(to, id);
  try {
    const problem = await copy.ledgerProblem(ledger);
    if (problem !== null) throw new AdminError(`${from} (project ${slug}): ${problem}.`);
    if (!(await copy.opensWith(masterKey))) {
      throw new AdminError(
        `This is not the master key that the secrets of project ${slug} were sealed with. Put the right one in place, or name it by SVC_MASTER_KEY_FILE.`,
      );
    }
    for await (const { digest, sizeBytes } of blobs.keys ? [] : copy.blobs()) {
      signal.throwIfAborted();
      const file = blobFile(id, digest);
      await checkFile(join(folder, file), { size_bytes: sizeBytes, sha256: digest });
      await copyTo(join(folder, file), join(stage, file), false);
    }
  } finally {
    await copy.close();
  }
}

function refuseBroken(copy: string, original: string): void {
  const [problem] = structureProblems(copy);
  if (problem !== undefined) throw new AdminError(`${original} is damaged: ${problem}`);
}

/** The control database comes last: without it there is no gateway. */
async function putInPlace(stage: string, dataFolder: string): Promise<void> {
  await syncFolders(stage);
  await rename(join(stage, 'projects'), join(dataFolder, 'projects'));
  await syncFile(dataFolder);
  await rename(join(stage, 'control.db'), join(dataFolder, 'control.db'));
  await rm(stage, { recursive: true, force: true });
  await syncFile(dataFolder);
}
