import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isoTime } from '../../../shared/lib/clock.ts';
import { parseObject } from '../../../shared/lib/guards.ts';
import { snapshot, structureProblems } from '../../store/snapshot.ts';
import { AdminError } from '../admin-error.ts';
import { checkFile, databaseFile } from '../backup/copies.ts';
import { readManifest } from '../backup/manifest.ts';
import { existingKey } from '../master-key.ts';
import { ProjectCopy } from '../backup/project-copy.ts';
import type { LedgerHead } from './repair-database.ts';
import { keyFileOf, type AdminSettings } from '../settings.ts';

/** A checked copy of a database. */
export interface DatabaseSource {
  /** One file, without a log. */
  readonly file: string;
  /** The backup or the replica. */
  readonly from: string;
  /** When it was made, in ISO 8601. */
  readonly asOf: string;
  /** Where its ledger ends; null for the control database and an empty one. */
  readonly ledger: LedgerHead | null;
}

interface SourceOptions {
  readonly settings: AdminSettings;
  readonly backup: string | null;
  readonly replica: string | null;
}

interface DatabaseSources {
  of(project: string | null): DatabaseSource | null;
  close(): Promise<void>;
}

const REPLICA_FILE = 'replica.db';

/**
 * Finds copies of damaged databases and checks them: in a member's replica, which is newer, or else in a backup. `null`
 * is the control database, which only a backup has. Throws an `AdminError` that names what is wrong with a copy.
 */
export async function databaseSources(
  { settings, backup, replica }: SourceOptions,
  projects: readonly (string | null)[],
): Promise<DatabaseSources> {
  const found = new Map<string | null, DatabaseSource>();
  const folder = await mkdtemp(join(settings.dataFolder, 'repair-'));
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const ofReplica = replica === null ? null : replicaProject(replica, projects);
    for (const project of projects) {
      const source =
        replica !== null && project !== null && project === ofReplica
          ? await fromReplica({ settings, replica, project, folder })
          : backup !== null && (await fromBackup({ settings, backup, project }));
      if (source) found.set(project, source);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { of: (project) => found.get(project) ?? null, close };
}

/** A replica's folder is named after its project; a copy of it may have any name. */
function replicaProject(replica: string, projects: readonly (string | null)[]): string | null {
  if (!existsSync(join(replica, REPLICA_FILE))) {
    throw new AdminError(
      `${replica} is no replica: ${REPLICA_FILE} is missing. Name a folder in replicas/ of a member's data folder, or a copy of one.`,
    );
  }
  const named = projects.find((project) => project === basename(replica));
  const known = projects.filter((project) => project !== null);
  return named ?? (known.length === 1 ? (known[0] ?? null) : null);
}

async function fromReplica({
  settings,
  replica,
  project,
  folder,
}: {
  readonly settings: AdminSettings;
  readonly replica: string;
  readonly project: string;
  readonly folder: string;
}): Promise<DatabaseSource> {
  const file = join(folder, `${project}.db`);
  // Its daemon may be running, and its newest commits are in the log.
  await snapshot(join(replica, REPLICA_FILE), file);
  const ledger = await checkedProject(file, { settings, project, name: replica });
  return { file, from: replica, asOf: replicaTime(replica), ledger };
}

/** When the replica was last known to be complete. */
function replicaTime(replica: string): string {
  const record = join(replica, 'replica.json');
  const kept = existsSync(record) ? parseObject(readFileSync(record, 'utf8')) : null;
  const completeAt = kept?.['completeAt'];
  return isoTime(
    typeof completeAt === 'number' ? completeAt : statSync(join(replica, REPLICA_FILE)).mtimeMs,
  );
}

async function fromBackup({
  settings,
  backup,
  project,
}: {
  readonly settings: AdminSettings;
  readonly backup: string;
  readonly project: string | null;
}): Promise<DatabaseSource | null> {
  const manifest = readManifest(backup);
  const asOf = manifest.created_at;
  if (project === null) {
    if (!manifest.control) return null;
    const file = join(backup, 'control.db');
    await checkFile(file, manifest.control);
    return { file, from: backup, asOf, ledger: null };
  }
  const entry = manifest.projects.find(({ id }) => id === project);
  if (!entry?.database) return null;
  const file = join(backup, databaseFile(project));
  await checkFile(file, entry.database);
  const ledger = await checkedProject(file, { settings, project, name: backup });
  return { file, from: backup, asOf, ledger };
}

/** Returns where the ledger of a good copy ends. */
async function checkedProject(
  file: string,
  {
    settings,
    project,
    name,
  }: { readonly settings: AdminSettings; readonly project: string; readonly name: string },
): Promise<LedgerHead | null> {
  const [broken] = structureProblems(file);
  if (broken !== undefined) throw new AdminError(`The copy in ${name} is damaged too: ${broken}`);
  const copy = ProjectCopy.ofFile(file, project);
  try {
    const { ledger } = await copy.position();
    const problem = await copy.ledgerProblem(ledger);
    if (problem !== null) throw new AdminError(`The copy of ${project} in ${name}: ${problem}.`);
    if (!(await copy.opensWith(existingKey(keyFileOf(settings))))) {
      throw new AdminError(
        `The copy of ${project} in ${name} was sealed with another master key than ${keyFileOf(settings)}.`,
      );
    }
    return ledger;
  } finally {
    await copy.close();
  }
}
