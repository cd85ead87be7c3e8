import { hash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobStore } from '../shared/context.ts';
import { unavailable } from '../shared/errors.ts';

/** A file nobody names may be one that is about to be named: it is left alone this long. */
const ORPHAN_GRACE_MS = 3_600_000;

/**
 * Content-addressed files: `ab/<sha256>`. A file is written, synced and put in place, and its folder synced, before a
 * row may name it; it goes only after the commit that dropped the last row, and never while somebody holds a pin.
 */
export class FileBlobStore implements BlobStore {
  readonly #folder: string;
  readonly #pins = new Map<string, number>();
  readonly #removals = new Map<string, Promise<void>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(bytes: Uint8Array): Promise<{ digest: string; release: () => void }> {
    const digest = hash('sha256', bytes);
    const release = this.#pin(digest);
    try {
      // It may take away the old file only, never the one that is written now.
      await this.#removals.get(digest)?.catch(() => undefined);
      await this.#write(digest, bytes);
    } catch (error) {
      release();
      throw error;
    }
    return { digest, release };
  }

  read(digest: string): Promise<Uint8Array> {
    return readFile(this.#path(digest));
  }

  /** Deletes a blob unless it is pinned or `isReferenced` says that a row names it again. */
  async remove(digest: string, isReferenced: (digest: string) => Promise<boolean>): Promise<void> {
    if (this.#pins.has(digest) || (await isReferenced(digest)) || this.#pins.has(digest)) return;
    const running = this.#removals.get(digest);
    if (running) return running;
    const removal = rm(this.#path(digest), { force: true }).finally(() => {
      this.#removals.delete(digest);
    });
    this.#removals.set(digest, removal);
    await removal;
  }

  /** Deletes files that no row names: left by a crash between the file and its row. Ends early when told to. */
  async sweep(
    isReferenced: (digest: string) => Promise<boolean>,
    now: number,
    signal?: AbortSignal,
  ): Promise<void> {
    for (const folder of await listing(this.#folder)) {
      for (const name of await listing(join(this.#folder, folder))) {
        if (signal?.aborted) return;
        const path = join(this.#folder, folder, name);
        const changedAt = await changeTime(path);
        if (changedAt === null || now - changedAt < ORPHAN_GRACE_MS) continue;
        const [digest = ''] = name.split('.');
        if (digest === name) await this.remove(digest, isReferenced);
        else if (!this.#pins.has(digest)) await rm(path, { force: true });
      }
    }
  }

  #pin(digest: string): () => void {
    this.#pins.set(digest, (this.#pins.get(digest) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#pins.get(digest) ?? 1) - 1;
      if (left > 0) this.#pins.set(digest, left);
      else this.#pins.delete(digest);
    };
  }

  async #write(digest: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(digest);
    const folder = dirname(path);
    const made = await makeFolder(folder);
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      await writeSynced(temporary, bytes);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw isDiskFull(error) ? unavailable(5, error) : error;
    }
    await syncFolder(folder);
    if (made !== undefined) await syncFolder(dirname(folder));
  }

  #path(digest: string): string {
    return join(this.#folder, digest.slice(0, 2), digest);
  }
}

/** The first folder made, undefined when all were there. */
async function makeFolder(folder: string): Promise<string | undefined> {
  try {
    return await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw isDiskFull(error) ? unavailable(5, error) : error;
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** It passes: the caller may try again. */
function isDiskFull(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT'].includes(String(error.code))
  );
}

async function listing(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

/** Null for a file that has gone meanwhile. */
async function changeTime(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Makes a rename or a new file in a folder survive a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
