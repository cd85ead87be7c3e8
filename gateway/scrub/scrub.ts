import { createReadStream } from 'node:fs';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errorCode } from '../../shared/lib/guards.ts';
import { DamageRegister } from '../../shared/store/sums/damage.ts';
import { checkDatabase } from '../store/check-database.ts';
import { readScrubState, writeScrubState, type ScrubState } from './scrub-state.ts';

const DIGEST = /^[0-9a-f]{64}$/;
/** How often the state is written: a scrub that was cut short goes on from there. */
const NOTED_BYTES = 256 * 1024 * 1024;
/** What is damaged of a database that the disk can't read. */
const UNREADABLE = 'its content';

export interface ScrubOptions {
  readonly dataFolder: string;
  readonly now: () => number;
  /** Called with the bytes that were read since the last call; resolves when it may go on. */
  readonly pace: (bytes: number) => Promise<void>;
}

/** What a scrub looked at. */
export interface ScrubResult {
  readonly databases: number;
  readonly blobs: number;
  readonly bytes: number;
}

/**
 * Compares all databases and blobs of a data folder with their sums, and tells the register of damage what it found,
 * and what is sound again. A process of its own runs it: see `checkDatabase`. It goes on where the last one was cut
 * short.
 */
export function scrub(options: ScrubOptions): Promise<ScrubResult> {
  return new Scrub(options).run();
}

class Scrub {
  readonly #options: ScrubOptions;
  readonly #register: DamageRegister;
  #state: ScrubState;
  #databases = 0;
  #blobs = 0;
  #bytes = 0;
  #notedBytes = 0;
  /** The first file that couldn't be looked at. */
  #trouble: Error | null = null;

  constructor(options: ScrubOptions) {
    const { dataFolder, now } = options;
    this.#options = options;
    this.#register = new DamageRegister(dataFolder, now);
    const last = readScrubState(dataFolder);
    this.#state =
      last && last.finishedAt === null
        ? last
        : { startedAt: now(), finishedAt: null, file: null, doneBytes: 0 };
  }

  async run(): Promise<ScrubResult> {
    const { dataFolder, now } = this.#options;
    const projects = join(dataFolder, 'projects');
    await this.#database(null, join(dataFolder, 'control.db'));
    for (const project of await namesIn(projects)) {
      await this.#database(project, join(projects, project, 'project.db'));
      const blobs = join(projects, project, 'blobs');
      for (const folder of await namesIn(blobs)) {
        for (const name of await namesIn(join(blobs, folder))) {
          if (DIGEST.test(name)) await this.#blob(project, join(blobs, folder, name), name);
        }
      }
    }
    this.#note({ ...this.#state, finishedAt: now(), file: null, doneBytes: 0 });
    if (this.#trouble !== null) throw this.#trouble;
    return { databases: this.#databases, blobs: this.#blobs, bytes: this.#bytes };
  }

  /** Where to begin in this file; null if it was done before. Names come in the same order each time. */
  #begin(file: string): number | null {
    const { file: last, doneBytes } = this.#state;
    if (last !== null && orderOf(file) < orderOf(last)) return null;
    return file === last ? doneBytes : 0;
  }

  async #database(project: string | null, path: string): Promise<void> {
    const { dataFolder, now } = this.#options;
    const file = relative(dataFolder, path);
    const fromByte = this.#begin(file);
    if (fromByte === null) return;
    const found = new Set<string>();
    let done = fromByte;
    try {
      for await (const step of checkDatabase(path, { dataFolder, project, now, fromByte })) {
        if ('what' in step) {
          found.add(`${step.file}\n${step.what}`);
          this.#register.report(step);
          continue;
        }
        await this.#read(file, step.doneBytes - done, step.doneBytes);
        done = step.doneBytes;
      }
    } catch (error) {
      if (errorCode(error) !== 'EIO') return this.#goOn(error);
      found.add(`${file}\n${UNREADABLE}`);
      this.#register.report({ project, file, what: UNREADABLE });
    }
    this.#databases += 1;
    if (fromByte === 0) this.#forget(file, found);
  }

  /** Damage that an earlier scrub found and this one didn't has been overwritten since. */
  #forget(file: string, found: ReadonlySet<string>): void {
    for (const damage of this.#register.list()) {
      const isOurs =
        damage.file === file && /^(page \d+|its length|its content)$/.test(damage.what);
      const isBeside = damage.file === `${file}-sums` || damage.file === `${file}-wal`;
      if (!isOurs && !isBeside) continue;
      if (!found.has(`${damage.file}\n${damage.what}`)) {
        this.#register.resolve(damage.file, damage.what);
      }
    }
  }

  async #blob(project: string, path: string, digest: string): Promise<void> {
    const file = relative(this.#options.dataFolder, path);
    if (this.#begin(file) === null) return;
    const hash = createHash('sha256');
    try {
      for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
        hash.update(chunk as Buffer);
        await this.#read(file, (chunk as Buffer).length, 0);
      }
    } catch (error) {
      if (errorCode(error) !== 'EIO') return this.#goOn(error);
      return this.#register.report({ project, file, what: 'blob' });
    }
    this.#blobs += 1;
    if (hash.digest('hex') === digest) this.#register.resolve(file, 'blob');
    else this.#register.report({ project, file, what: 'blob' });
  }

  /** One file that can't be opened doesn't keep the others from being looked at. A missing one was deleted meanwhile. */
  #goOn(error: unknown): void {
    if (errorCode(error) === 'ENOENT' || !(error instanceof Error)) return;
    this.#trouble ??= error;
  }

  async #read(file: string, bytes: number, doneBytes: number): Promise<void> {
    this.#bytes += bytes;
    this.#state = { ...this.#state, file, doneBytes };
    if (this.#bytes - this.#notedBytes > NOTED_BYTES) this.#note(this.#state);
    await this.#options.pace(bytes);
  }

  #note(state: ScrubState): void {
    this.#state = state;
    this.#notedBytes = this.#bytes;
    writeScrubState(this.#options.dataFolder, state);
  }
}

/** The control database comes first, and each project's database before its blobs. */
function orderOf(file: string): string {
  if (file === 'control.db') return '';
  return file.replace(/\/project\.db$/, '/');
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}
