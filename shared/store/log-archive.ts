import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { BaseCopy } from './driver.ts';
import { copyDatabase, copyRange, moveDurably } from './log-files.ts';
import { logBytes } from './wal.ts';

const DAY_MS = 86_400_000;
/**
 * We keep archived logs for replicas that were away: up to KEPT_BYTES or KEPT_TIMES the size of the database, whichever
 * is larger.
 */
const KEPT_BYTES = 256 * 1024 * 1024;
const KEPT_TIMES = 4;
/** How long a base copy stays after the last request for it. */
const COPY_MS = 600_000;

type GenerationRef = Pick<BaseCopy, 'epoch' | 'generation'>;

/**
 * The files of a history: logs of earlier generations as `<generation>.wal`, and copies of the database file at their
 * start.
 */
export class LogArchive {
  readonly #folder: string;
  #copyTimer: NodeJS.Timeout | null = null;

  constructor(folder: string) {
    this.#folder = folder;
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
    for (const { name, path } of this.#list()) {
      const isOpen = name === `${generation}.wal`;
      if (isOpen || name.endsWith('.part') || name.endsWith('.db')) rmSync(path, { force: true });
    }
  }

  /** Deletes logs that are too old, and the oldest ones if there are too many bytes. */
  tidy(now: number, databaseBytes: number): void {
    const kept = Math.max(KEPT_BYTES, KEPT_TIMES * databaseBytes);
    let sum = 0;
    const logs = this.#list().filter(({ name }) => /^\d+\.wal$/.test(name));
    for (const { path, sizeBytes, changedAt } of logs.toSorted(newestFirst)) {
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
    for (const { name, path, changedAt } of this.#list()) {
      if (!name.endsWith('.db')) continue;
      if (changedAt <= endsAt) rmSync(path, { force: true });
      else nextMs = Math.min(nextMs, changedAt - endsAt);
    }
    if (nextMs < Infinity) this.#dropCopiesIn(nextMs);
  }

  #list(): Entry[] {
    return readdirSync(this.#folder).flatMap((name) => {
      const path = join(this.#folder, name);
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? [{ name, path, sizeBytes: found.size, changedAt: found.mtimeMs }] : [];
    });
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

function newestFirst(one: Entry, other: Entry): number {
  return Number.parseInt(other.name, 10) - Number.parseInt(one.name, 10);
}
