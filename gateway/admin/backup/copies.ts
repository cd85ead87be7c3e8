import { createHash } from 'node:crypto';
import { constants, createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../../shared/lib/guards.ts';
import { syncFile } from '../../lib/durable-files.ts';
import { AdminError } from '../admin-error.ts';
import type { StoredFile } from './manifest.ts';

const PROJECT_FOLDER = /^prj_[0-9a-z]{16}$/;

/** The path of a project's database, in a data folder and in a backup. */
export function databaseFile(projectId: string): string {
  return join('projects', projectId, 'project.db');
}

/** The ids of the projects that have a database in a data folder. */
export async function projectFolders(dataFolder: string): Promise<string[]> {
  const names = await readdir(join(dataFolder, 'projects')).catch(() => []);
  return names.filter(
    (name) => PROJECT_FOLDER.test(name) && existsSync(join(dataFolder, databaseFile(name))),
  );
}

/** The path of a project's blob, in a data folder and in a backup. */
export function blobFile(projectId: string, digest: string): string {
  return join('projects', projectId, 'blobs', digest.slice(0, 2), digest);
}

async function sha256OfFile(path: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of createReadStream(path)) sum.update(chunk as Uint8Array);
  return sum.digest('hex');
}

/** Syncs a file and returns its size and digest. */
export async function stored(path: string): Promise<StoredFile> {
  await syncFile(path);
  const { size } = await stat(path);
  return { size_bytes: size, sha256: await sha256OfFile(path) };
}

/** Throws an `AdminError` that names the file if it's not as it should be. */
export async function checkFile(path: string, wanted: StoredFile): Promise<void> {
  const size = await sizeOf(path);
  if (size === null) throw new AdminError(`${path} is missing.`);
  if (size !== wanted.size_bytes || (await sha256OfFile(path)) !== wanted.sha256) {
    throw new AdminError(`${path} is damaged: its digest doesn't match.`);
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    // Other kinds of files may have no end.
    if (!found.isFile()) throw new AdminError(`${path} isn't a file.`);
    return found.size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Copies a file to a new path and syncs it. */
export async function copyTo(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  await syncFile(to);
}

/** Syncs the folders, so that all file names survive a power cut. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  }
  await syncFile(folder);
}
