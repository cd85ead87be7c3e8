import { closeSync, openSync, statSync } from 'node:fs';
import { errorCode } from '../../lib/guards.ts';
import { DamagedDatabase } from '../../host/start-refusal.ts';
import { Connection, fileAloneAddress } from '../engine/connection.ts';
import { scanLog, scanNewest, type LogContent } from '../log/log-frames.ts';
import {
  DAMAGED_SUM,
  dropSums,
  pageSum,
  readSums,
  sumsPath,
  writeSums,
  type PageSums,
} from './page-sums.ts';
import type { LogHead } from '../log/wal.ts';
import { PAGE_BYTES } from '../log/wal-layout.ts';
import { positionOf } from '../engine/writer-connection.ts';

/** What is damaged in a file: `page 17`, `frame 3`. */
export interface FileDamage {
  readonly path: string;
  readonly what: string;
}

/** A group of jobs changes the row of the position and the pages of what it wrote. */
const CHANGED_BY_A_GROUP = 2;
/** In the first page: the version that a writer of the file must know (the SQLite file format, section 1.3). */
const FORMAT_OFFSET = 18;
const FORMAT_WITH_LOG = 2;
/** In the first page: the first of the pages that list the free ones (section 1.5). */
const FREE_PAGES_OFFSET = 32;

/**
 * Keeps the sums of a database's pages. They are computed from the log, which has its own checksums, and are on the
 * disk before a checkpoint begins. Until it has ended, and whatever interrupts it, the log has these pages too and
 * SQLite reads them there; so a page must have its newest sum once the log hasn't got it any more.
 */
export class SumKeeper {
  readonly #path: string;
  readonly #logPath: string;
  readonly #report: (damage: FileDamage) => void;

  constructor(path: string, report: (damage: FileDamage) => void = () => undefined) {
    this.#path = path;
    this.#logPath = `${path}-wal`;
    this.#report = report;
  }

  /**
   * Looks at what an earlier process left. Call it before the database is opened, because SQLite drops what follows a
   * broken frame, and makes a new database of an empty file. Throws a `DamagedDatabase` rather than lose commits.
   */
  examine(): void {
    const log = contentOf(this.#logPath);
    for (const frame of log.broken) this.#reportFrame(frame);
    if (log.broken.length > 0) {
      const why = 'its log has a broken frame, and what was committed from there on would be lost';
      throw new DamagedDatabase(this.#path, why);
    }
    const sums = readSums(this.#path);
    if (sums === 'damaged') return this.#report({ path: sumsPath(this.#path), what: 'its sums' });
    const sizeBytes = statSync(this.#path, { throwIfNoEntry: false })?.size;
    if (sizeBytes === undefined) {
      // SQLite would make a new database, and delete the log with its commits.
      if (log.frames > 0) this.#refuseCut('it is missing, and its log is not');
      return;
    }
    // While the log is the one that was noted last, a checkpoint may have been interrupted anywhere.
    const isFolded = sums !== null && isFoldedSince(sums, log);
    const pages = Math.floor(sizeBytes / PAGE_BYTES);
    // SQLite makes a new database of an empty file, and deletes its log. Each that has a log has a page.
    if (pages === 0 && log.frames > 0) this.#refuseCut('it is empty, and its log is not');
    if (pages === 0) return isFolded ? this.#refuseCut(shortOf(pages, sums)) : undefined;
    withFileAlone(this.#path, (file) => {
      const isOfOthers = isFolded && file.isAnother(sums);
      if (isFolded && !isOfOthers && pages < sums.sums.length)
        this.#refuseCut(shortOf(pages, sums));
      this.#fill(isOfOthers ? null : sums, file, { log, pages });
    });
  }

  #refuseCut(why: string): never {
    this.#report({ path: this.#path, what: 'its length' });
    throw new DamagedDatabase(this.#path, why);
  }

  /** Computes the sums that are missing from the file, which is what it is from here on. */
  #fill(
    known: PageSums | null,
    file: FileAlone,
    { log, pages }: { readonly log: LogContent; readonly pages: number },
  ): void {
    const length = Math.max(pages, known?.sums.length ?? 0);
    const sums = resized(known?.sums, length);
    let isChanged = known === null;
    for (let page = 1; page <= pages; page += 1) {
      // The log has it, so the file may have anything in its place.
      if (sums[page - 1] !== 0 || log.touched.has(page)) continue;
      sums[page - 1] = file.sumOf(page);
      isChanged = true;
    }
    if (!isChanged) return;
    const { salts = '0'.repeat(16), position = file.position } = known ?? {};
    this.#write({ salts, position, sums });
  }

  /** Notes the log's pages, before a checkpoint. */
  note(
    { frames, checkpointedFrames }: Pick<LogHead, 'frames' | 'checkpointedFrames'>,
    position: number,
  ): void {
    if (frames === 0) return;
    const log = newestOf(this.#logPath, frames);
    for (const frame of log.broken) this.#reportFrame(frame);
    if (log.salts === null) return dropSums(this.#path);
    const known = this.#known();
    // Otherwise the file may have some pages of this log.
    const isAsBefore = known !== null && checkpointedFrames === 0 && known.salts !== log.salts;
    if (isAsBefore) this.#compare(known.sums, log.pages.keys());
    const sums = resized(known?.sums, log.databasePages);
    for (const [page, sum] of log.pages) {
      if (page <= sums.length && sums[page - 1] !== DAMAGED_SUM) sums[page - 1] = sum;
    }
    this.#write({ salts: log.salts, position, sums });
  }

  /**
   * Looks at pages that the log is about to replace. SQLite changed them where it had read them, so whatever was damaged
   * by then is in the log too, and a sum of that would make it right. Marks such pages in `sums`.
   */
  #compare(sums: Uint32Array, pages: Iterable<number>): void {
    try {
      withFileAlone(this.#path, (file) => {
        for (const page of pages) {
          const known = sums[page - 1] ?? 0;
          const found = known === 0 || known === DAMAGED_SUM ? 0 : file.sumOf(page);
          if (found === 0 || found === known || file.isFree(page)) continue;
          this.#report({ path: this.#path, what: `page ${page}` });
          sums[page - 1] = DAMAGED_SUM;
        }
      });
    } catch {
      // Without files to open there's no comparison, and there must be a checkpoint.
    }
  }

  #known(): PageSums | null {
    const sums = readSums(this.#path);
    if (sums !== 'damaged') return sums;
    this.#report({ path: sumsPath(this.#path), what: 'its sums' });
    return null;
  }

  /** Without sums rather than without a checkpoint: on a full disk it's the checkpoint that makes room. */
  #write(sums: PageSums): void {
    try {
      writeSums(this.#path, sums);
    } catch {
      dropSums(this.#path);
    }
  }

  #reportFrame(frame: number): void {
    const what = frame === 0 ? 'its header' : `frame ${frame}`;
    this.#report({ path: this.#logPath, what });
  }
}

function shortOf(pages: number, { sums }: PageSums): string {
  return `only ${pages} of its ${sums.length} pages are there`;
}

/** Whether all that the sums know of has arrived in the file, so that it must have them. */
function isFoldedSince({ salts }: PageSums, log: LogContent): boolean {
  return log.frames === 0 || log.salts !== salts;
}

/** Whether the file has commits that its sums don't know: another program has checkpointed a log, or written. */
export function isNewerThan(path: string, sums: PageSums): boolean {
  if (!isFoldedSince(sums, contentOf(`${path}-wal`))) return false;
  let isNewer = false;
  withFileAlone(path, (file) => (isNewer = file.isAnother(sums)));
  return isNewer;
}

function resized(sums: Uint32Array | undefined, pages: number): Uint32Array {
  const wanted = new Uint32Array(pages);
  wanted.set((sums ?? new Uint32Array()).subarray(0, pages));
  return wanted;
}

/** Reads a log that may not exist. Nobody holds locks on it, so it can be closed again. */
export function contentOf(path: string, options?: Parameters<typeof scanLog>[1]): LogContent {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return scanLog(null);
    throw error;
  }
  try {
    return scanLog(file, options);
  } finally {
    closeSync(file);
  }
}

function newestOf(path: string, frames: number): ReturnType<typeof scanNewest> {
  const file = openSync(path, 'r');
  try {
    return scanNewest(file, frames);
  } finally {
    closeSync(file);
  }
}

/** Reads a file without its log through SQLite, because closing a file by other means ends the locks of this process. */
function withFileAlone(path: string, use: (file: FileAlone) => void): void {
  const connection = new Connection(fileAloneAddress(path));
  try {
    use(new FileAlone(connection));
  } finally {
    connection.close();
  }
}

class FileAlone {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The newest commit in the file; -1 if it can't be read. */
  get position(): number {
    try {
      return positionOf(this.#connection);
    } catch {
      return -1;
    }
  }

  /** 0 if the page can't be read. */
  sumOf(page: number): number {
    const data = this.#contentOf(page);
    // A copy has no log yet; opening it for writing changes this page, past the log.
    if (page === 1 && data?.[FORMAT_OFFSET] !== FORMAT_WITH_LOG) return 0;
    return data === null ? 0 : pageSum(data);
  }

  /** Whether the page is free and in nobody's use: then SQLite doesn't read it before it writes all of it. */
  isFree(page: number): boolean {
    const seen = new Set([0]);
    let trunk = this.#contentOf(1)?.readUInt32BE(FREE_PAGES_OFFSET) ?? 0;
    while (!seen.has(trunk)) {
      seen.add(trunk);
      const data = this.#contentOf(trunk);
      if (data === null) return false;
      const count = Math.min(data.readUInt32BE(4), data.length / 4 - 2);
      for (let index = 0; index < count; index += 1) {
        if (data.readUInt32BE(8 + 4 * index) === page) return true;
      }
      trunk = data.readUInt32BE(0);
    }
    return false;
  }

  #contentOf(page: number): Buffer | null {
    try {
      const row = this.#connection.get('SELECT data FROM sqlite_dbpage WHERE pgno = ?', [page]);
      const data = row?.['data'];
      return data instanceof Uint8Array
        ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
        : null;
    } catch {
      return null;
    }
  }

  /**
   * Whether these are the sums of another file: an earlier release has written to this one since, or somebody put it in
   * the other's place. Then it has another position, and more pages than one differ.
   */
  isAnother({ position, sums }: PageSums): boolean {
    const found = this.position;
    // A file without tables isn't another database.
    if (found <= 0 || found === position) return false;
    let count = 0;
    for (let index = 0; index < sums.length && count < CHANGED_BY_A_GROUP; index += 1) {
      const known = sums[index];
      if (known === 0 || known === DAMAGED_SUM) continue;
      if (known !== this.sumOf(index + 1)) count += 1;
    }
    return count === CHANGED_BY_A_GROUP;
  }
}
