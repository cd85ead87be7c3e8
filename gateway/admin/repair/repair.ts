import { basename, join } from 'node:path';
import { StartRefusal } from '../../../shared/host/start-refusal.ts';
import { DamageRegister } from '../../../shared/store/sums/damage.ts';
import type { Lock } from '../../../shared/store/engine/lock.ts';
import { claimAnyMode } from '../../lib/data-folder.ts';
import { AdminError } from '../admin-error.ts';
import { checkData, type CheckOptions, type Finding } from '../check/check.ts';
import { isSpare } from '../check/check-database.ts';
import { databaseSources, type DatabaseSource } from './database-sources.ts';
import { BlobRepair, type BlobSources } from './repair-blobs.ts';
import { dropFile, headIn, putDatabase, wakeProjects, type LedgerHead } from './repair-database.ts';

export interface RepairOptions extends CheckOptions {
  /** A backup; null for none. */
  readonly backup: string | null;
  /** The folder of a member's replica; null for none. */
  readonly replica: string | null;
  /** Another place with blobs under the same names; null for none. */
  readonly blobs: BlobSources['bucket'];
  /** Whether a database may be replaced, which loses what was written since its copy was made. */
  readonly mayLose: boolean;
  readonly now: number;
}

/** A damaged object and what took, or will take, its place. */
export interface RepairRow {
  readonly file: string;
  readonly what: string;
  /** The backup, replica or bucket; null if the file was only a spare and nothing takes its place. */
  readonly from: string | null;
  /** When the copy of a database was made, in ISO 8601; null for others, which never change. */
  readonly as_of: string | null;
  /** Where a project's ledger ended and ends now; null if that can't be read, and for others. */
  readonly ledger_before: LedgerHead | null;
  readonly ledger_after: LedgerHead | null;
  /** Where the damaged database is kept, with its logs; null for others. */
  readonly kept: string | null;
}

export interface RepairReport {
  readonly data: string;
  /** False: replacing a database needs `--yes`, so nothing was changed. */
  readonly done: boolean;
  readonly repaired: readonly RepairRow[];
  /** What is damaged still. */
  readonly damage: readonly Finding[];
}

/**
 * Puts good copies in place of damaged objects, and touches no good one. Blobs are replaced while a gateway runs; for
 * databases nothing may run. Every copy is checked first. A damaged database is kept beside the new one.
 */
export async function repairData(options: RepairOptions): Promise<RepairReport> {
  const lock = lockIfFree(options.settings.dataFolder);
  try {
    return await new Repair(options, lock !== null).run();
  } finally {
    lock?.release();
  }
}

/** Null if a process uses the data. */
function lockIfFree(dataFolder: string): Lock | null {
  try {
    return claimAnyMode(dataFolder);
  } catch (error) {
    if (error instanceof StartRefusal && error.kind === 'held') return null;
    throw error;
  }
}

/** A database file that is damaged. */
interface Broken {
  /** Null: the control database. */
  readonly project: string | null;
  readonly finding: Finding;
}

class Repair {
  readonly #options: RepairOptions;
  readonly #isFree: boolean;
  readonly #repaired: RepairRow[] = [];

  constructor(options: RepairOptions, isFree: boolean) {
    this.#options = options;
    this.#isFree = isFree;
  }

  async run(): Promise<RepairReport> {
    let { damage } = await checkData(this.#options);
    const spares = damage.filter(({ file }) => isSpare(file));
    const { onServer } = this.#options.settings.databases;
    const broken = onServer ? [] : brokenIn(damage);
    const sources = await databaseSources(
      this.#options,
      broken.map(({ project }) => project),
    );
    try {
      const plan = broken.flatMap((one) => {
        const source = sources.of(one.project);
        return source ? [{ ...one, source }] : [];
      });
      if (plan.length + spares.length > 0) this.#refuseInUse();
      if (plan.length > 0 && !this.#options.mayLose) {
        for (const one of plan) this.#repaired.push(await this.#entry(one, null));
        return this.#report(false, damage);
      }
      for (const one of plan) await this.#replace(one);
      for (const spare of spares) await this.#drop(spare);
      if (plan.length > 0) await wakeProjects(this.#options.settings.databases);
      // An older database may name blobs that are gone by now.
      if (plan.length + spares.length > 0) ({ damage } = await checkData(this.#options));
    } finally {
      await sources.close();
    }
    return this.#report(true, await this.#blobs(damage));
  }

  #report(done: boolean, damage: readonly Finding[]): RepairReport {
    return { data: this.#folder, done, repaired: this.#repaired, damage };
  }

  get #folder(): string {
    return this.#options.settings.dataFolder;
  }

  #refuseInUse(): void {
    if (this.#isFree) return;
    throw new AdminError(
      `A process uses the data in ${this.#folder}, and a database is damaged. Stop it first (the gateway, or svc down) and repeat this; damaged blobs alone can be replaced while it runs.`,
    );
  }

  async #replace(one: Broken & { readonly source: DatabaseSource }): Promise<void> {
    const entry = await this.#entry(one, null);
    const at = { dataFolder: this.#folder, project: one.project, now: this.#options.now };
    const kept = await putDatabase(one.source.file, at);
    this.#repaired.push({ ...entry, kept });
  }

  async #entry(
    { project, finding, source }: Broken & { readonly source: DatabaseSource },
    kept: string | null,
  ): Promise<RepairRow> {
    const { databases } = this.#options.settings;
    return {
      ...nothing(finding),
      what: 'database',
      file: project === null ? 'control.db' : join('projects', project, 'project.db'),
      from: source.from,
      as_of: source.asOf,
      ledger_before: project === null ? null : await headIn(databases.ofProject(project), project),
      ledger_after: source.ledger,
      kept,
    };
  }

  async #drop(finding: Finding): Promise<void> {
    await dropFile(join(this.#folder, finding.file));
    this.#repaired.push(nothing(finding));
  }

  /** Returns what is damaged still. */
  async #blobs(damage: readonly Finding[]): Promise<Finding[]> {
    const { settings, backup, blobs, signal } = this.#options;
    const register = new DamageRegister(this.#folder);
    const repair = new BlobRepair(settings, { backup, bucket: blobs });
    const left: Finding[] = [];
    try {
      for (const finding of damage) {
        signal.throwIfAborted();
        const { project, file, what } = finding;
        const from =
          what === 'blob' && project !== null
            ? await repair.replace(project, basename(file))
            : null;
        if (from === null) {
          left.push(finding);
          continue;
        }
        register.resolve(file, what);
        this.#repaired.push({ ...nothing(finding), from });
      }
      return left;
    } finally {
      repair.close();
    }
  }
}

function nothing({ file, what }: Finding): RepairRow {
  return {
    file,
    what,
    from: null,
    as_of: null,
    ledger_before: null,
    ledger_after: null,
    kept: null,
  };
}

/** One entry for each damaged database. */
function brokenIn(damage: readonly Finding[]): Broken[] {
  const found = new Map<string | null, Broken>();
  for (const finding of damage) {
    const { project, what } = finding;
    if (what === 'blob' || what === 'master key' || isSpare(finding.file)) continue;
    if (!found.has(project)) found.set(project, { project, finding });
  }
  return [...found.values()];
}
