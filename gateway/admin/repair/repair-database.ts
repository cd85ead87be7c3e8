import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { DatabaseLocation } from '../../../shared/store/engine/location.ts';
import { ControlStore } from '../../store/control-store.ts';
import type { Databases } from '../../store/databases.ts';
import { openReadOnly } from '../../store/read-only.ts';
import { syncFile } from '../../lib/durable-files.ts';
import { copyTo, databaseFile } from '../backup/copies.ts';
import { ProjectCopy } from '../backup/project-copy.ts';

/** The last entry of a ledger. */
export interface LedgerHead {
  readonly seq: number;
  readonly hash: string;
}

/** What stays in a project's folder when its database is replaced. */
const STAYS = /^(blobs|copying\..*|damaged-.*)$/;
const NEW = '.repaired';

interface DatabaseFolder {
  readonly dataFolder: string;
  /** Null: the control database. */
  readonly project: string | null;
  readonly now: number;
}

/**
 * Puts a checked copy in place of a database. The damaged one goes into a folder beside it, with its log and everything
 * that was made from it; returns that folder, relative to the data folder.
 */
export async function putDatabase(
  source: string,
  { dataFolder, project, now }: DatabaseFolder,
): Promise<string> {
  const path = join(dataFolder, project === null ? 'control.db' : databaseFile(project));
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await rm(path + NEW, { force: true });
  await copyTo(source, path + NEW);
  const stamp = isoTime(now).replaceAll(/[:.]/g, '-');
  const kept = join(folder, `damaged-${stamp}`);
  await mkdir(kept, { mode: 0o700 });
  const isOfIt = (name: string): boolean =>
    (project === null ? name.startsWith('control.db') : !STAYS.test(name)) && !name.endsWith(NEW);
  // The database goes first. If this is interrupted, nothing starts without the database, and the next check reports it
  // as missing. Without its log or sums, a damaged one would look sound.
  const own = basename(path);
  const names = (await readdir(folder)).filter((name) => isOfIt(name) && name !== own);
  if (existsSync(path)) await rename(path, join(kept, own));
  for (const name of names) await rename(join(folder, name), join(kept, name));
  await rename(path + NEW, path);
  await syncFile(kept);
  await syncFile(folder);
  return kept.slice(dataFolder.length + 1);
}

/** Removes a file that is made anew. */
export async function dropFile(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncFile(dirname(path));
}

/** After a restore, what is due is found by reading each project. */
export async function wakeProjects({ control }: Databases): Promise<void> {
  const store = await ControlStore.open(control, () => undefined);
  await store.idleMarkers.endAll();
  await store.chats.doubtAll();
  await store.close();
}

/** Where a project's ledger ends; null if it's empty or can't be read. */
export async function headIn(
  location: DatabaseLocation,
  project: string,
): Promise<LedgerHead | null> {
  try {
    const copy = new ProjectCopy(await openReadOnly(location), project);
    try {
      return (await copy.position()).ledger;
    } finally {
      await copy.close();
    }
  } catch {
    return null;
  }
}
