import { open, readdir, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../shared/lib/guards.ts';
import type { Damage } from '../../shared/store/sums/damage.ts';
import { contentOf, isNewerThan } from '../../shared/store/sums/sum-keeper.ts';
import {
  DAMAGED_SUM,
  pageSum,
  readSums,
  sumsPath,
  type PageSums,
} from '../../shared/store/sums/page-sums.ts';
import { PAGE_BYTES } from '../../shared/store/log/wal-layout.ts';

const CHUNK_PAGES = 256;
/** How often we look again before a page counts as damaged: the gateway may be writing it. */
const LOOKS = 5;
const LOOK_PAUSE_MS = 20;

/** How far a check is. */
export interface CheckProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface CheckOptions {
  /** Damage names files relative to this folder. */
  readonly dataFolder: string;
  /** Null for the control database. */
  readonly project: string | null;
  /** Unix time in milliseconds (default: the system's). */
  readonly now?: () => number;
  /** Begins after this many bytes of the database, where an earlier check ended (default 0). */
  readonly fromByte?: number;
}

/**
 * Compares everything of a database with its sums: its pages, its log and the archived logs. Run it in a process that
 * has no connection to the database, because closing a file ends all locks that the process holds on it. Another process
 * may write meanwhile. A database of an earlier release has no sums until it has been opened, and one that another program
 * wrote to has none that count.
 */
export async function* checkDatabase(
  path: string,
  options: CheckOptions,
): AsyncGenerator<Damage | CheckProgress> {
  const { dataFolder, project, now = Date.now } = options;
  const damage = (file: string, what: string): Damage => ({
    project,
    file: relative(dataFolder, file),
    what,
    foundAt: now(),
  });
  for await (const { path: file, whats } of logDamage(path)) {
    for (const what of whats) yield damage(file, what);
  }
  const { size } = await stat(path);
  if (size === 0 && contentOf(`${path}-wal`).frames > 0) yield damage(path, 'its length');
  const sums = await currentSums(path);
  if (sums === 'damaged') {
    yield damage(sumsPath(path), 'its sums');
    return;
  }
  for await (const step of pageDamage(path, sums, options)) {
    if ('what' in step) yield damage(path, step.what);
    else yield step;
  }
}

/** Null as well if another program has written to the file: its pages get new sums when it's opened. */
async function currentSums(path: string): Promise<PageSums | 'damaged' | null> {
  const before = await marksOf(sumsPath(path));
  const sums = readSums(path);
  if (sums === 'damaged' || sums === null || !isNewerThan(path, sums)) return sums;
  return before === (await marksOf(sumsPath(path))) ? null : newestOf(path);
}

/** Damage of the current log, which may be written to meanwhile, and of the archived ones. */
async function* logDamage(path: string) {
  const logPath = `${path}-wal`;
  let log = contentOf(logPath);
  for (let look = 1; log.broken.length > 0 && look < LOOKS; look += 1) {
    await sleep(LOOK_PAUSE_MS);
    const again = contentOf(logPath);
    const broken = again.salts === log.salts ? again.broken : [];
    log = { ...again, broken: broken.filter((frame) => log.broken.includes(frame)) };
  }
  yield { path: logPath, whats: log.broken.map(frameName) };
  const folder = join(dirname(path), 'generations');
  for (const name of await namesIn(folder)) {
    if (!/^\d+\.wal$/.test(name)) continue;
    const archive = join(folder, name);
    const { broken } = contentOf(archive, { isWhole: true });
    yield { path: archive, whats: broken.map(frameName) };
    await sleep(0);
  }
}

async function* pageDamage(
  path: string,
  first: PageSums | null,
  options: CheckOptions,
): AsyncGenerator<{ readonly what: string } | CheckProgress> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    let sums = first;
    const pages = Math.max(Math.ceil(size / PAGE_BYTES), sums?.sums.length ?? 0);
    for (let done = Math.floor((options.fromByte ?? 0) / PAGE_BYTES); done < pages;) {
      const chunk = await readPages(file, done + 1, Math.min(CHUNK_PAGES, pages - done));
      const suspects = suspectsIn(chunk, done + 1, sums);
      for (const page of await damagedOf(path, file, suspects)) {
        if (page * PAGE_BYTES <= size) yield { what: `page ${page}` };
        else return yield { what: 'its length' };
      }
      if (suspects.length > 0) sums = newestOf(path) ?? sums;
      done += chunk.length;
      yield { doneBytes: done * PAGE_BYTES, totalBytes: pages * PAGE_BYTES };
    }
  } finally {
    await file.close();
  }
}

/** Null stands for a page that the file hasn't got, or that the disk can't read. */
type Page = Buffer | null;

async function readPages(file: FileHandle, from: number, count: number): Promise<Page[]> {
  const bytes = Buffer.alloc(count * PAGE_BYTES);
  const bytesRead = await readInto(bytes, file, from);
  if (bytesRead !== null) {
    return Array.from({ length: count }, (_, index) => {
      const end = (index + 1) * PAGE_BYTES;
      return end <= bytesRead ? bytes.subarray(end - PAGE_BYTES, end) : null;
    });
  }
  if (count === 1) return [null];
  // One bad place makes the whole read fail.
  const half = Math.floor(count / 2);
  return [
    ...(await readPages(file, from, half)),
    ...(await readPages(file, from + half, count - half)),
  ];
}

/** Returns how many bytes there were; null if the disk can't read all of them. */
async function readInto(bytes: Buffer, file: FileHandle, from: number): Promise<number | null> {
  try {
    return (await file.read(bytes, 0, bytes.length, (from - 1) * PAGE_BYTES)).bytesRead;
  } catch (error) {
    if (errorCode(error) === 'EIO') return null;
    throw error;
  }
}

function suspectsIn(pages: readonly Page[], from: number, sums: PageSums | null): number[] {
  return pages.flatMap((page, index) => {
    const known = sums?.sums[from + index - 1] ?? 0;
    return known === 0 || (page && pageSum(page) === known) ? [] : [from + index];
  });
}

/**
 * Looks at pages again until nothing was written meanwhile. From when the sums have the log's pages, a checkpoint may be
 * writing these to the file; before, the file has all pages as they were.
 */
async function damagedOf(
  path: string,
  file: FileHandle,
  suspects: readonly number[],
): Promise<readonly number[]> {
  let left = suspects;
  for (let look = 0; look < LOOKS && left.length > 0; look += 1) {
    if (look > 0) await sleep(LOOK_PAUSE_MS);
    const before = await marksOf(sumsPath(path));
    left = await stillDamaged(path, file, left);
    if (before === (await marksOf(sumsPath(path)))) return left;
  }
  // Somebody writes all the time; the next check looks again.
  return [];
}

async function stillDamaged(
  path: string,
  file: FileHandle,
  suspects: readonly number[],
): Promise<readonly number[]> {
  const sums = newestOf(path);
  const log = contentOf(`${path}-wal`);
  const beingFolded: ReadonlySet<number> = sums?.salts === log.salts ? log.touched : new Set();
  const damaged: number[] = [];
  for (const number of suspects) {
    const known = sums?.sums[number - 1] ?? 0;
    if (known === 0 || (beingFolded.has(number) && known !== DAMAGED_SUM)) continue;
    const [page] = await readPages(file, number, 1);
    if (!page || pageSum(page) !== known) damaged.push(number);
  }
  return damaged;
}

function newestOf(path: string): PageSums | null {
  const sums = readSums(path);
  return sums === 'damaged' ? null : sums;
}

/** Changes whenever the file is replaced. */
async function marksOf(path: string): Promise<string | null> {
  try {
    const { ino, mtimeNs } = await stat(path, { bigint: true });
    return `${ino}-${mtimeNs}`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function frameName(frame: number): string {
  return frame === 0 ? 'its header' : `frame ${frame}`;
}
