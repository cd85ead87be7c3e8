import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathProblem } from '../../shared/rules/disk/disk-name.ts';
import { localFault } from './faults.ts';
import { isPartName } from './part-file.ts';

/** A path below a folder, with `/` separators, and the reason svc leaves it out. */
interface Remark {
  readonly file: string;
  readonly reason: string;
}

/** The contents of a folder. */
export interface Scan {
  /** Regular files with their sizes. */
  readonly files: ReadonlyMap<string, number>;
  /** Symbolic links, pipes and the like: left out on purpose. */
  readonly skipped: readonly Remark[];
  /** Files that should be synced but can't be. */
  readonly refused: readonly Remark[];
  /** False if a folder couldn't be read, so files may be missing here. */
  readonly isComplete: boolean;
}

interface ScanResult {
  readonly files: Map<string, number>;
  readonly skipped: Remark[];
  readonly refused: Remark[];
  isComplete: boolean;
}

/** Walks a folder without following symbolic links. */
export async function scanFolder(root: string, signal: AbortSignal): Promise<Scan> {
  const found: ScanResult = { files: new Map(), skipped: [], refused: [], isComplete: true };
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    signal.throwIfAborted();
    for (const entry of await entriesOf(root, folder, found)) {
      const name = nameOf(entry.name);
      const file = `${folder}${name ?? printable(entry.name)}`;
      const problem = name === null ? "Its name isn't valid UTF-8." : pathProblem(name);
      if (problem !== null) found.refused.push({ file, reason: problem });
      else if (entry.isDirectory()) folders.push(`${file}/`);
      else await take(root, file, entry, found);
    }
  }
  return found;
}

async function entriesOf(
  root: string,
  folder: string,
  found: ScanResult,
): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(join(root, folder), { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    // The folder was removed or became unreadable since its parent was read.
    found.refused.push({ file: folder || '.', reason: reasonOf(error, folder || '.') });
    found.isComplete = false;
    return [];
  }
}

async function take(root: string, file: string, entry: Dirent<Buffer>, found: ScanResult) {
  if (isPartName(entry.name.toString())) return;
  if (!entry.isFile()) {
    found.skipped.push({ file, reason: kindOf(entry) });
    return;
  }
  try {
    found.files.set(file, (await lstat(join(root, file))).size);
  } catch (error) {
    found.refused.push({ file, reason: reasonOf(error, file) });
  }
}

function reasonOf(error: unknown, name: string): string {
  const fault = localFault(error, name, 'read');
  if (fault instanceof Error) return fault.message;
  throw error;
}

function kindOf(entry: Dirent<Buffer>): string {
  if (entry.isSymbolicLink()) return 'a symbolic link';
  if (entry.isFIFO()) return 'a pipe';
  if (entry.isSocket()) return 'a socket';
  return 'not a regular file';
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function nameOf(bytes: Buffer): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

/** Escapes a name that isn't valid UTF-8 so that a person can still recognise it: `caf\xe9.txt`. */
function printable(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^\u0020-\u007e]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
