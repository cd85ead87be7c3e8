import { join } from 'node:path';
import { FILE_MAX_BYTES } from '../../shared/lib/limits.ts';
import { isReservedPath, pathProblem } from '../../shared/rules/disk/disk-name.ts';
import { CliError } from '../errors.ts';
import { tooLarge } from './faults.ts';
import { inParallel } from './pool.ts';
import type { RemoteDisk, StoredFile } from './remote-disk.ts';
import type { Scan } from './scan.ts';
import { digestOf, openPlainFile } from './source.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';

/** From this machine to the disk, or back. */
export type Direction = 'up' | 'down';

/** One change and its outcome. */
export interface Item {
  readonly action: 'send' | 'receive' | 'delete' | 'skip';
  /** The path on the disk. */
  readonly path: string;
  /** The path below the local folder. */
  readonly file: string;
  readonly size_bytes: number | null;
  readonly reason: string;
  /** `open` means svc didn't get to it. */
  outcome: 'planned' | 'done' | 'failed' | 'skipped' | 'open';
  error: string | null;
}

export interface Plan {
  readonly items: readonly Item[];
  readonly unchanged: number;
}

/** The stored files below a prefix, keyed by the rest of their paths. */
export type StoredFiles = ReadonlyMap<string, StoredFile>;

interface Sides {
  readonly root: string;
  readonly prefix: string;
  readonly scan: Scan;
  readonly stored: StoredFiles;
  readonly withDelete: boolean;
  readonly signal: AbortSignal;
}

/** How many files are read or transferred at a time. */
export const AT_A_TIME = 4;

export async function storedBelow(disk: RemoteDisk, prefix: string): Promise<StoredFiles> {
  const stored = new Map<string, StoredFile>();
  for await (const file of disk.list(prefix)) {
    if (file.path.startsWith(prefix)) stored.set(file.path.slice(prefix.length), file);
  }
  return stored;
}

/** The changes that make the disk match the folder. */
export async function planUp(sides: Sides): Promise<Plan> {
  const { prefix, scan, stored } = sides;
  const items: Item[] = [
    ...scan.skipped.map(({ file, reason }) => skipped(prefix, file, reason)),
    ...scan.refused.map(({ file, reason }) => refused('send', prefix, file, null, reason)),
  ];
  const candidates = [...scan.files].filter(([file, size]) => {
    const problem = sendProblem(prefix + file, size);
    if (problem !== null) items.push(refused('send', prefix, file, size, problem));
    return problem === null;
  });
  const unchanged = await compare(sides, 'send', candidates, items);
  if (sides.withDelete && scan.isComplete) {
    const kept = new Set([...scan.skipped, ...scan.refused].map(({ file }) => file));
    for (const [file, { sizeBytes }] of stored) {
      // A local file that svc doesn't send must not be deleted on the disk.
      const isThere = scan.files.has(file) || isBelowOneOf(file, kept);
      if (!isThere) items.push(planned('delete', prefix, file, sizeBytes, 'gone'));
    }
  }
  return { items: items.toSorted(byFile), unchanged };
}

/** The changes that make the folder match the disk. */
export async function planDown(sides: Sides): Promise<Plan> {
  const { prefix, scan, stored } = sides;
  const items: Item[] = [];
  const candidates: [string, number][] = [];
  for (const [file, { sizeBytes }] of stored) {
    const problem = pathProblem(file);
    if (problem === null) candidates.push([file, sizeBytes]);
    else items.push(refused('receive', prefix, file, sizeBytes, outside(problem)));
  }
  const unchanged = await compare(sides, 'receive', candidates, items);
  if (sides.withDelete) {
    for (const [file, size] of scan.files) {
      if (!stored.has(file)) items.push(planned('delete', prefix, file, size, 'gone'));
    }
  }
  return { items: items.toSorted(byFile), unchanged };
}

/** Adds an item for each file that differs; returns how many match. */
async function compare(
  { root, prefix, scan, stored, signal }: Sides,
  action: 'send' | 'receive',
  candidates: readonly (readonly [string, number])[],
  items: Item[],
): Promise<number> {
  let unchanged = 0;
  await inParallel(candidates, AT_A_TIME, async ([file, size]) => {
    signal.throwIfAborted();
    const [here, there] = [scan.files.get(file), stored.get(file)];
    if (here === undefined || there === undefined) {
      items.push(planned(action, prefix, file, size, 'new'));
      return;
    }
    try {
      if (here === there.sizeBytes && (await digestHere(root, file)) === there.sha256)
        unchanged += 1;
      else items.push(planned(action, prefix, file, size, 'changed'));
    } catch (error) {
      items.push(refused(action, prefix, file, size, problemText(error)));
    }
  });
  return unchanged;
}

async function digestHere(root: string, file: string): Promise<string> {
  const source = await openPlainFile(join(root, file), file);
  try {
    return await digestOf(source);
  } finally {
    await source.close();
  }
}

function sendProblem(path: string, sizeBytes: number): string | null {
  if (isReservedPath(path)) return 'Paths that begin with `evt_` are reserved.';
  if (sizeBytes > FILE_MAX_BYTES) return problemText(tooLarge('It', sizeBytes));
  return pathProblem(path);
}

function outside(problem: string): string {
  return `The path doesn't fit in the folder: ${problem}`;
}

/** The refusal as `CODE: message`; rethrows unexpected errors. */
export function problemText(error: unknown): string {
  if (!(error instanceof CliError)) throw error;
  return `${error.code}: ${messageOf(error)}`;
}

function isBelowOneOf(file: string, names: ReadonlySet<string>): boolean {
  const parts = file.split('/');
  return parts.some((_, at) => names.has(parts.slice(0, at + 1).join('/')));
}

function planned(
  action: 'send' | 'receive' | 'delete',
  prefix: string,
  file: string,
  sizeBytes: number,
  reason: string,
): Item {
  const path = prefix + file;
  return { action, path, file, size_bytes: sizeBytes, reason, outcome: 'planned', error: null };
}

function refused(
  action: 'send' | 'receive',
  prefix: string,
  file: string,
  sizeBytes: number | null,
  error: string,
): Item {
  const path = prefix + file;
  return { action, path, file, size_bytes: sizeBytes, reason: 'refused', outcome: 'failed', error };
}

function skipped(prefix: string, file: string, reason: string): Item {
  const path = prefix + file;
  return { action: 'skip', path, file, size_bytes: null, reason, outcome: 'skipped', error: null };
}

function byFile(one: Item, other: Item): number {
  if (one.file === other.file) return 0;
  return one.file < other.file ? -1 : 1;
}
