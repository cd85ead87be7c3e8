import { randomUUID } from 'node:crypto';
import { openSync } from 'node:fs';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { sha256Of, type Bytes } from '../../shared/bytes.ts';
import type { BlobStore, ByteRange, PinnedBlob } from '../../shared/context.ts';
import { unavailable } from '../../shared/errors.ts';
import {
  isDiskFull,
  isInPlace,
  listing,
  makeFolder,
  moveInPlace,
  writeInPlace,
  writeStreamSynced,
} from './blob-files.ts';
import { Pins } from './pins.ts';

/** A file nobody names may be one that is about to be named: it is left alone this long. */
const ORPHAN_GRACE_MS = 3_600_000;
/** Where bytes are kept whose digest is not known yet. */
const INCOMING = 'incoming';

/**
 * Content-addressed files: `ab/<sha256>`. A file is written, synced and put in place, and its folder synced, before a
 * row may name it; it goes only after the commit that dropped the last row, and never while somebody holds a pin.
 */
export class FileBlobStore implements BlobStore {
  readonly #folder: string;
  /** By the first part of a file's name: a digest, or the name of bytes that are still coming in. */
  readonly #pins: Pins;

  /** `onFree` is told of each digest that nobody holds any more. */
  constructor(folder: string, onFree: (digest: string) => void = () => {}) {
    this.#folder = folder;
    this.#pins = new Pins(onFree);
  }

  async put(bytes: Bytes, digest = sha256Of(bytes)): Promise<PinnedBlob> {
    const path = this.#path(digest);
    return this.#pins.pinned(digest, async () => {
      if (await isInPlace(path, bytes)) return;
      const temporary = this.#incoming(`${digest}.${randomUUID()}`);
      await wholeOrNothing(temporary, () => writeInPlace(temporary, path, bytes));
    });
  }

  /** Throws BlobSizeError when other than `sizeBytes` come. */
  async putStream(chunks: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<PinnedBlob> {
    const name = randomUUID();
    // However long they take to come, no sweep takes them for orphans.
    const unpin = this.#pins.hold(name);
    const temporary = this.#incoming(name);
    try {
      return await wholeOrNothing(temporary, async () => {
        const digest = await writeStreamSynced(temporary, chunks, sizeBytes);
        return this.#pins.pinned(digest, () => moveInPlace(temporary, this.#path(digest)));
      });
    } finally {
      unpin();
    }
  }

  read(digest: string): Promise<Uint8Array> {
    return readFile(this.#path(digest));
  }

  async open(digest: string, range?: ByteRange): Promise<Readable> {
    const file = await open(this.#path(digest), 'r');
    return file.createReadStream({ ...range });
  }

  /** Open before it is promised: a removal takes the name, and leaves these bytes to whoever reads them and then closes. */
  async openFile(digest: string): Promise<number> {
    return openSync(this.#path(digest), 'r');
  }

  /** Deletes a blob unless it is pinned or `isReferenced` says that a row names it again. */
  remove(digest: string, isReferenced: (digest: string) => Promise<boolean>): Promise<void> {
    return this.#pins.remove(digest, isReferenced, () => rm(this.#path(digest), { force: true }));
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
        const changed = await changedAt(path);
        if (changed === null || now - changed < ORPHAN_GRACE_MS) continue;
        const [digest = ''] = name.split('.');
        if (digest === name) await this.remove(digest, isReferenced);
        else if (!this.#pins.has(digest)) await rm(path, { force: true });
      }
    }
  }

  #path(digest: string): string {
    return join(this.#folder, digest.slice(0, 2), digest);
  }

  #incoming(name: string): string {
    return join(this.#folder, INCOMING, `${name}.tmp`);
  }
}

/** Runs what writes a temporary file and moves it to where it belongs. Leaves no file when that fails. */
async function wholeOrNothing<T>(temporary: string, work: () => Promise<T>): Promise<T> {
  try {
    makeFolder(dirname(temporary));
    return await work();
  } catch (error) {
    await rm(temporary, { force: true });
    throw isDiskFull(error) ? unavailable(5, error) : error;
  }
}

/** Null for a file that is not there. */
async function changedAt(path: string): Promise<number | null> {
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
