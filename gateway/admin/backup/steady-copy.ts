import { rm } from 'node:fs/promises';
import { errorCode } from '../../../shared/lib/guards.ts';
import { isFault } from '../../lib/durable-files.ts';
import type { CopyMark, CopyMarks } from '../../blobs/copy-marks.ts';
import { AdminError } from '../admin-error.ts';
import type { BlobTarget } from './blob-target.ts';
import type { ProjectCopy, StoredBlob } from './project-copy.ts';

/** A gateway of an earlier release, or one that took the copy for dead, may erase a blob; a later snapshot doesn't name it. */
const ATTEMPTS_MAX = 5;

interface BlobCopyOptions {
  /** Where a blob goes. */
  readonly fileOf: (digest: string) => string;
  readonly signal: AbortSignal;
  readonly onBlob: (done: number) => void;
  /** Takes blobs that can't be copied; without it, the first of them ends the copy. */
  readonly troubles?: BlobTroubles;
}

/** The blobs that a copy goes on without. */
export class BlobTroubles {
  readonly #suspects = new Set<string>();
  #missing: BlobMissing[] = [];
  #found = new Map<string, string>();

  /** Digests, and what is wrong with each. */
  get found(): ReadonlyMap<string, string> {
    return this.#found;
  }

  begin(): void {
    this.#missing = [];
    this.#found = new Map();
  }

  note({ digest }: StoredBlob, trouble: AdminError): void {
    const isMissing = trouble instanceof BlobMissing;
    if (isMissing && !this.#suspects.has(digest)) this.#missing.push(trouble);
    this.#found.set(digest, problemOf(trouble));
  }

  /** Throws a `BlobMissing` if a newer snapshot may do without a blob that is missing. */
  settle(): void {
    for (const { digest } of this.#missing) this.#suspects.add(digest);
    const [first] = this.#missing;
    if (first) throw first;
  }
}

function problemOf(trouble: AdminError): string {
  if (trouble instanceof BlobMissing) return 'is missing';
  return trouble instanceof BlobUnreadable ? "can't be read" : "doesn't match its digest";
}

/** The disk can't read a blob. */
class BlobUnreadable extends AdminError {}

/** A blob that a copy needs is missing. */
class BlobMissing extends AdminError {
  readonly digest: string;

  constructor(digest: string, cause: unknown) {
    super(`The blob ${digest} is missing.`, { cause });
    this.digest = digest;
  }
}

/**
 * Copies a project as of one moment: `attempt` makes the snapshot and then copies the blobs that it names. Meanwhile no
 * gateway erases a blob of the project. Throws an `AdminError` if a blob is missing; `clear` removes what an attempt left.
 */
export async function copySteadily<T>(
  marks: CopyMarks,
  attempt: () => Promise<T>,
  clear: () => Promise<void>,
): Promise<T> {
  let missing: string | null = null;
  for (let n = 1; ; n += 1) {
    const mark = await announced(marks);
    try {
      return await attempt();
    } catch (error) {
      // The newest snapshot still names it, so nobody erased it meanwhile.
      const isForGood = error instanceof BlobMissing && error.digest === missing;
      if (!(error instanceof BlobMissing) || isForGood || n === ATTEMPTS_MAX) throw error;
      missing = error.digest;
    } finally {
      await mark?.end();
    }
    await clear();
  }
}

/** Null if nothing can be written (so nothing can be erased), or if no blob has been stored yet. */
async function announced(marks: CopyMarks): Promise<CopyMark | null> {
  try {
    return await marks.announce();
  } catch (error) {
    if (isFault(error, 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

/** Copies the blobs that a copied database names; returns how many and how large they are. */
export async function copyBlobs(
  copy: ProjectCopy,
  target: BlobTarget,
  { fileOf, signal, onBlob, troubles }: BlobCopyOptions,
): Promise<{ count: number; size_bytes: number }> {
  const blobs = { count: 0, size_bytes: 0 };
  troubles?.begin();
  for await (const blob of copy.blobs()) {
    signal.throwIfAborted();
    const trouble = await copyBlob(target, blob, fileOf(blob.digest));
    if (trouble) {
      if (!troubles) throw trouble;
      troubles.note(blob, trouble);
      await rm(fileOf(blob.digest), { force: true });
      continue;
    }
    blobs.count += 1;
    blobs.size_bytes += blob.sizeBytes;
    onBlob(blobs.count);
  }
  troubles?.settle();
  return blobs;
}

/** Copies one blob and checks it; returns what is wrong if it's missing or damaged, and null if it's whole. */
async function copyBlob(
  target: BlobTarget,
  blob: StoredBlob,
  file: string,
): Promise<AdminError | null> {
  try {
    await target.fetch(blob, file);
    return null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return new BlobMissing(blob.digest, error);
    if (errorCode(error) === 'EIO') {
      return new BlobUnreadable(`The blob ${blob.digest} can't be read.`, { cause: error });
    }
    if (error instanceof AdminError) return error;
    throw error;
  }
}
