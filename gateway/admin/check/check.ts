import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DamageRegister } from '../../../shared/store/sums/damage.ts';
import type { DatabaseLocation } from '../../../shared/store/engine/location.ts';
import { newestSchema } from '../../../shared/store/engine/migrate.ts';
import { projectsOf, sampleOf, type ProjectRecord } from '../../store/control-store.ts';
import type { ProjectState } from '../../store/control/project-state.ts';
import { openReadOnly } from '../../store/read-only.ts';
import { SAMPLE_PLACE } from '../../projects/open-control.ts';
import { createVault } from '../../lib/vault.ts';
import { AdminError } from '../admin-error.ts';
import { BlobCheck } from './check-blobs.ts';
import { databaseDamage } from './check-database.ts';
import { projectFolders } from '../backup/copies.ts';
import { readKey } from '../master-key.ts';
import { ProjectCopy } from '../backup/project-copy.ts';
import { keyFileOf, type AdminSettings } from '../settings.ts';

/** Something that isn't as it was written. */
export interface Finding {
  /** The project's id; null for the gateway's own. */
  readonly project: string | null;
  /** See `Damage`. */
  readonly file: string;
  readonly what: string;
  /** After the name: `doesn't match its digest`. */
  readonly problem: string;
}

export interface CheckReport {
  readonly data: string;
  readonly projects: number;
  readonly databases: number;
  readonly blobs: number;
  /** Bytes of the blobs. */
  readonly size_bytes: number;
  readonly damage: readonly Finding[];
}

export interface CheckOptions {
  readonly settings: AdminSettings;
  readonly signal: AbortSignal;
  /** Also called for each blob, with the number of blobs so far. */
  readonly onProgress: (done: number, total: number, blobs: number) => void;
}

/** Stands for the file of a database there. */
export const ON_SERVER = 'the database server';
/** The states of projects whose database is here. */
const HAS_DATA: ReadonlySet<ProjectState> = new Set(['active', 'held']);

/**
 * Looks at everything that a gateway or a local daemon has, whether it's running or not, and changes none of it: the
 * databases, their logs and ledgers, the blobs, and whether the master key opens the secrets. The register of damage says
 * the same afterwards.
 */
export async function checkData(options: CheckOptions): Promise<CheckReport> {
  const { settings } = options;
  const { dataFolder, databases } = settings;
  const isThere = ['control.db', 'projects'].some((name) => existsSync(join(dataFolder, name)));
  if (!databases.onServer && !isThere) {
    throw new AdminError(
      `${dataFolder} holds no gateway data. Name the data folder with --data or SVC_DATA.`,
    );
  }
  const check = new DataCheck(options);
  try {
    const projects = await check.run();
    const { damage, databases: count, blobs } = check;
    tellRegister(new DamageRegister(dataFolder), damage);
    const blobTotals = { blobs: blobs.count, size_bytes: blobs.sizeBytes };
    return { data: dataFolder, projects, databases: count, ...blobTotals, damage };
  } finally {
    check.blobs.close();
  }
}

/** The register now holds exactly what the check found, because the check looked at everything. */
function tellRegister(register: DamageRegister, damage: readonly Finding[]): void {
  const isFound = (file: string, what: string): boolean =>
    damage.some((one) => one.file === file && one.what === what);
  for (const { file, what } of register.list())
    if (!isFound(file, what)) register.resolve(file, what);
  for (const one of damage) register.report(one);
}

class DataCheck {
  readonly damage: Finding[] = [];
  readonly blobs: BlobCheck;
  databases = 0;
  readonly #options: CheckOptions;
  readonly #names: DamageRegister;
  #key: Uint8Array | null = null;

  constructor(options: CheckOptions) {
    this.#options = options;
    this.#names = new DamageRegister(options.settings.dataFolder);
    this.blobs = new BlobCheck(options.settings, (...found) => this.#found(...found));
  }

  async run(): Promise<number> {
    const { signal, onProgress } = this.#options;
    this.#key = this.#masterKey();
    const ids = await this.#control();
    onProgress(0, ids.length, 0);
    for (const [index, id] of ids.entries()) {
      signal.throwIfAborted();
      await this.#project(id, () => onProgress(index, ids.length, this.blobs.count));
      onProgress(index + 1, ids.length, this.blobs.count);
    }
    return ids.length;
  }

  #found(project: string | null, location: string, what: string, problem: string): void {
    const file = location === ON_SERVER ? location : this.#names.nameOf(location);
    if (this.damage.some((one) => one.file === file && one.what === what)) return;
    this.damage.push({ project, file, what, problem });
  }

  /** Null if it can't be read; what it sealed isn't checked then. */
  #masterKey(): Uint8Array | null {
    const file = keyFileOf(this.#options.settings);
    const key = readKey(file);
    if (typeof key !== 'string') return key;
    this.#found(null, file, 'master key', key);
    return null;
  }

  /** The ids of projects with data here. If the control database is damaged, also those that have a database. */
  async #control(): Promise<string[]> {
    const { databases, dataFolder } = this.#options.settings;
    const location = databases.control;
    const known = (await this.#structure(null, location)) ? await this.#recorded(location) : [];
    const ids = known.filter(({ state }) => HAS_DATA.has(state)).map(({ id }) => id);
    if (this.damage.every(({ what }) => what === 'master key')) return ids;
    const isKnown = (id: string): boolean => known.some((record) => record.id === id);
    const others = (await projectFolders(dataFolder)).filter((id) => !isKnown(id));
    return [...ids, ...others];
  }

  async #recorded(location: DatabaseLocation): Promise<ProjectRecord[]> {
    const reader = await openReadOnly(location);
    try {
      this.#seal(await sampleOf(reader));
      return await projectsOf(reader);
    } catch (error) {
      this.#found(null, nameOf(location), 'database', `can't be read: ${reasonOf(error)}`);
      return [];
    } finally {
      await reader.close();
    }
  }

  /** Whether the key opens the gateway's sample. */
  #seal(sample: Uint8Array | null): void {
    if (sample === null || this.#key === null) return;
    try {
      createVault(this.#key).open(SAMPLE_PLACE, sample);
    } catch {
      this.#wrongKey();
    }
  }

  #wrongKey(): void {
    const file = keyFileOf(this.#options.settings);
    if (this.damage.some(({ what }) => what === 'master key')) return;
    this.#found(null, file, 'master key', "doesn't open the stored secrets");
  }

  /** False if nothing more can be read from it. */
  async #structure(project: string | null, location: DatabaseLocation): Promise<boolean> {
    if (location.kind === 'remote') return true;
    this.databases += 1;
    let isReadable = true;
    const { dataFolder } = this.#options.settings;
    for await (const found of databaseDamage(location.path, { dataFolder, project })) {
      this.#found(project, found.file, found.what, found.problem);
      isReadable &&= !found.isFatal;
    }
    return isReadable;
  }

  async #project(id: string, onBlob: () => void): Promise<void> {
    const location = this.#options.settings.databases.ofProject(id);
    const { signal } = this.#options;
    const run = { project: id, signal, onBlob };
    const before = this.damage.length;
    if (!(await this.#structure(id, location))) return this.blobs.runFound(run);
    const copy = new ProjectCopy(await openReadOnly(location), id);
    const steps = [
      () => this.#sealsOf(copy),
      () => this.#ledgerOf(copy, id, nameOf(location)),
      () => this.#rowsOf(copy, id, nameOf(location)),
      () => this.blobs.run(copy, run),
    ];
    try {
      for (const step of steps) {
        await step().catch((error: unknown) => {
          if (signal.aborted || location.kind === 'remote') throw error;
          this.#found(id, nameOf(location), 'database', `can't be read: ${reasonOf(error)}`);
        });
      }
      // Damaged rows may name other blobs than there are.
      const isDamaged = this.damage.slice(before).some(({ what }) => what !== 'blob');
      if (isDamaged) await this.blobs.runFound(run);
    } finally {
      await copy.close();
    }
  }

  async #sealsOf(copy: ProjectCopy): Promise<void> {
    if (this.#key && !(await copy.opensWith(this.#key))) this.#wrongKey();
  }

  /** Not in a database of an earlier release, whose rows get their sums once it's opened. */
  async #rowsOf(copy: ProjectCopy, project: string, location: string): Promise<void> {
    if ((await copy.schema()) !== newestSchema('project')) return;
    for await (const row of copy.rowDamage()) {
      this.#options.signal.throwIfAborted();
      this.#found(project, location, row, "doesn't match its sum");
    }
  }

  async #ledgerOf(copy: ProjectCopy, project: string, location: string): Promise<void> {
    const { ledger } = await copy.position();
    const problem = await copy.chainProblem(ledger);
    if (problem !== null) this.#found(project, location, 'ledger', problem);
  }
}

function nameOf(location: DatabaseLocation): string {
  return location.kind === 'file' ? location.path : ON_SERVER;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
