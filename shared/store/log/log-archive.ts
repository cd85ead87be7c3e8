import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { rm, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BaseCopy } from '../engine/driver.ts';
import { copyDatabase, copyRange, moveDurably } from './log-files.ts';
import { logBytes } from './wal.ts';

const DAY_MS = 86_400_000;
/**
 * We keep archived logs for replicas that were away: unless a setting says how much, up to KEPT_BYTES or KEPT_TIMES the
 * size of the database, whichever is larger.
 */
const KEPT_BYTES = 256 * 1024 * 1024;
const KEPT_TIMES = 4;
const LOG = /^\d+\.wal$/;
/** How long a base copy stays after the last request for it. */
const COPY_MS = 600_000;

/** The archived logs of a database. */
export interface ArchiveUse {
  readonly storedBytes: number;
  /** What they may take, apart from the newest one, which always stays. */
  readonly limitBytes: number;
}

type GenerationRef = Pick<BaseCopy, 'epoch' | 'generation'>;

/**
 * The files of a history: logs of earlier generations as `<generation>.wal`, and copies of the database file at their
 * start.
 */
export class LogArchive {
  readonly #folder: string;
  readonly #wantedBytes: number | null;
  #copyTimer: NodeJS.Timeout | null = null;

  /** `wantedBytes`: how much may be kept; null goes by the size of the database. */
  constructor(folder: string, wantedBytes: number | null = null) {
    this.#folder = folder;
    this.#wantedBytes = wantedBytes;
  }

  has(generation: number): boolean {
    return statSync(this.#logOf(generation), { throwIfNoEntry: false }) !== undefined;
  }

  /**
   * Copies the log's frames after the first `copied`, which an earlier call copied. The copy has no final name until
   * `nameLog`.
   */
  copyLog(path: string, generation: number, copied: number, frames: number): Promise<void> {
    const from = copied === 0 ? 0 : logBytes(copied);
    return copyRange({ path, from, to: logBytes(frames) }, `${this.#logOf(generation)}.part`);
  }

  /** Marks the archive as complete by naming it. Durable when it returns. */
  nameLog(generation: number): void {
    moveDurably(`${this.#logOf(generation)}.part`, this.#logOf(generation));
  }

  /** Takes the name away again: the generation goes on, so there will be more to copy. */
  setLogAside(generation: number): void {
    renameSync(this.#logOf(generation), `${this.#logOf(generation)}.part`);
  }

  /** Copies the database file. `isUnchanged` must still be true afterwards, or the copy is refused. */
  async makeBase(
    { epoch, generation }: GenerationRef,
    databasePath: string,
    options: { readonly signal: AbortSignal; readonly isUnchanged: () => boolean },
  ): Promise<BaseCopy> {
    const path = this.#baseOf(generation);
    // The copying process may outlive this one and must not collide with the next one's.
    const part = `${path}.${process.pid}.part`;
    await copyDatabase(databasePath, part, options.signal);
    // Another history may have begun in the same folder.
    if (!options.isUnchanged()) throw new Error('The file has changed while it was copied.');
    renameSync(part, path);
    this.#dropCopiesIn(COPY_MS);
    return { epoch, generation, path, sizeBytes: statSync(path).size };
  }

  /** The existing copy, kept from now on as long as a new one. */
  findBase({ epoch, generation }: GenerationRef): BaseCopy | null {
    const path = this.#baseOf(generation);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return null;
    const now = new Date();
    utimesSync(path, now, now);
    return { epoch, generation, path, sizeBytes: found.size };
  }

  /** Deletes files that are, or may be, incomplete after a start. */
  clean(generation: number): void {
    for (const { name, path } of filesIn(this.#folder)) {
      const isOpen = name === `${generation}.wal`;
      if (isOpen || name.endsWith('.part') || name.endsWith('.db')) rmSync(path, { force: true });
    }
  }

  /** Deletes logs that are too old, and the oldest ones if there are too many bytes. Replicas at hand need the newest one. */
  tidy(now: number, databaseBytes: number): void {
    const kept = keptBytes(databaseBytes, this.#wantedBytes);
    let sum = 0;
    const [newest, ...older] = logsIn(this.#folder);
    sum += newest?.sizeBytes ?? 0;
    for (const { path, sizeBytes, changedAt } of older) {
      sum += sizeBytes;
      if (sum > kept || now - changedAt > DAY_MS) rmSync(path, { force: true });
    }
  }

  close(): void {
    if (this.#copyTimer) clearTimeout(this.#copyTimer);
    this.#copyTimer = null;
  }

  #dropCopiesIn(ms: number): void {
    this.#copyTimer ??= setTimeout(() => {
      this.#copyTimer = null;
      this.#dropCopies();
    }, ms).unref();
  }

  #dropCopies(): void {
    const endsAt = Date.now() - COPY_MS;
    let nextMs = Infinity;
    for (const { name, path, changedAt } of filesIn(this.#folder)) {
      if (!name.endsWith('.db')) continue;
      if (changedAt <= endsAt) rmSync(path, { force: true });
      else nextMs = Math.min(nextMs, changedAt - endsAt);
    }
    if (nextMs < Infinity) this.#dropCopiesIn(nextMs);
  }

  #logOf(generation: number): string {
    return join(this.#folder, `${generation}.wal`);
  }

  #baseOf(generation: number): string {
    return join(this.#folder, `${generation}.db`);
  }
}

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly changedAt: number;
}

/** The folder of a database's history. */
export function archiveFolder(databasePath: string): string {
  return join(dirname(databasePath), 'generations');
}

/** How much a database's archived logs take and may take. */
export function archiveUse(databasePath: string, wantedBytes: number | null): ArchiveUse {
  const folder = archiveFolder(databasePath);
  const logs = existsSync(folder) ? logsIn(folder) : [];
  const databaseBytes = statSync(databasePath, { throwIfNoEntry: false })?.size ?? 0;
  return {
    storedBytes: logs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    limitBytes: keptBytes(databaseBytes, wantedBytes),
  };
}

/**
 * Deletes a database's archived logs except the newest one, even while a process writes to the database. Replicas that
 * were away and need them copy the database again.
 */
export async function giveUpLogs(databasePath: string): Promise<void> {
  const folder = archiveFolder(databasePath);
  const names = await readdir(folder).catch(() => []);
  const [, ...older] = names.filter((name) => LOG.test(name)).toSorted(newestFirst);
  for (const name of older) await rm(join(folder, name), { force: true });
}

function keptBytes(databaseBytes: number, wantedBytes: number | null): number {
  return wantedBytes ?? Math.max(KEPT_BYTES, KEPT_TIMES * databaseBytes);
}

/** The archived logs in a folder, the newest first. */
function logsIn(folder: string): Entry[] {
  return filesIn(folder)
    .filter(({ name }) => LOG.test(name))
    .toSorted((one, other) => newestFirst(one.name, other.name));
}

function filesIn(folder: string): Entry[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? [{ name, path, sizeBytes: found.size, changedAt: found.mtimeMs }] : [];
  });
}

function newestFirst(one: string, other: string): number {
  return Number.parseInt(other, 10) - Number.parseInt(one, 10);
}
