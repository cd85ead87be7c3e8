import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathProblem } from '../../shared/rules/disk-name.ts';
import { localFault } from './faults.ts';
import { isPartName } from './part-file.ts';

/** A name below a folder, with `/` between its parts, and what speaks against it. */
interface Remark {
  readonly file: string;
  readonly reason: string;
}

/** What is below a folder. */
export interface Scan {
  /** Regular files with their sizes. */
  readonly files: ReadonlyMap<string, number>;
  /** Links, pipes and the like: left out by intent. */
  readonly skipped: readonly Remark[];
  /** What should be taken along but cannot be. */
  readonly refused: readonly Remark[];
  /** False where a folder could not be read, so that nobody can say what is not there. */
  readonly isComplete: boolean;
}

interface Found {
  readonly files: Map<string, number>;
  readonly skipped: Remark[];
  readonly refused: Remark[];
  isComplete: boolean;
}

/** Walks through a folder. Links are not followed, not even to folders. */
export async function scanFolder(root: string, signal: AbortSignal): Promise<Scan> {
  const found: Found = { files: new Map(), skipped: [], refused: [], isComplete: true };
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

async function entriesOf(root: string, folder: string, found: Found): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(join(root, folder), { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    // It was removed, or closed to us, since its parent was read.
    found.refused.push({ file: folder || '.', reason: reasonOf(error, folder || '.') });
    found.isComplete = false;
    return [];
  }
}

async function take(root: string, file: string, entry: Dirent<Buffer>, found: Found) {
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

/** Bytes that are no text, so that a person can still tell which file is meant: `caf\xe9.txt`. */
function printable(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^\u0020-\u007e]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
