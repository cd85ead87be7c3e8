import { randomUUID } from 'node:crypto';
import { existsSync, openSync } from 'node:fs';
import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { sha256Of, type Bytes } from '../../shared/lib/bytes.ts';
import type { BlobStore, ByteRange, PinnedBlob } from '../../shared/kernel/context.ts';
import { unavailable } from '../../shared/lib/errors.ts';
import { makeFolder } from '../../shared/host/make-folder.ts';
import {
  isDiskTrouble,
  isFault,
  isInPlace,
  listing,
  moveInPlace,
  putBack,
  writeInPlace,
  writeStreamSynced,
  writeThenMove,
} from '../lib/durable-files.ts';
import { Pins } from './pins.ts';
import type { Erasure, SharedPins } from './shared-pins.ts';

/** A file nobody names may be one that is about to be named: it is left alone this long. */
const ORPHAN_GRACE_MS = 3_600_000;
/** Where bytes are kept whose digest is not known yet. */
const INCOMING = 'incoming';
const DIGEST = /^[0-9a-f]{64}$/;
/** How the name of a file ends whose erasure is not over; it stands among those that come in. */
const ERASED = '.erased';

/**
 * Content-addressed files: `ab/<sha256>`. A file is written, synced and put in place, and its folder synced, before a
 * row may name it; it goes only after the commit that dropped the last row, and never while somebody holds a pin.
 */
export class FileBlobStore implements BlobStore {
  readonly #folder: string;
  /** By the first part of a file's name: a digest, or the name of bytes that are still coming in. */
  readonly #pins: Pins;
  readonly #isShared: boolean;

  /** `onFree` is told of each digest that nobody holds any more; `shared` is null where this process is alone. */
  constructor(
    folder: string,
    onFree: (digest: string) => void = () => {},
    shared: SharedPins | null = null,
  ) {
    this.#folder = folder;
    this.#pins = new Pins(onFree, shared);
    this.#isShared = shared !== null;
  }

  async put(bytes: Bytes, digest = sha256Of(bytes)): Promise<PinnedBlob> {
    const path = this.#path(digest);
    return this.#pins.pinned(digest, async () => {
      if (await isInPlace(path, bytes)) return;
      const temporary = this.#incoming(`${digest}.${randomUUID()}`);
      // What is there may be what rows name: only what is durable may take its place.
      const isCareful = this.#isShared || existsSync(path);
      const write = isCareful ? writeThenMove : writeInPlace;
      await wholeOrNothing(temporary, () => write(temporary, path, bytes));
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

  async read(digest: string): Promise<Uint8Array> {
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
  async remove(digest: string, isReferenced: (digest: string) => Promise<boolean>): Promise<void> {
    const path = this.#path(digest);
    return this.#pins.remove(digest, isReferenced, {
      erase: () => rm(path, { force: true }),
      begin: async () => new FileErasure(path, this.#incoming(`${digest}.${randomUUID()}`, ERASED)),
    });
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
        await this.#sweepOne(path, name, isReferenced);
      }
    }
  }

  async #sweepOne(
    path: string,
    name: string,
    isReferenced: (digest: string) => Promise<boolean>,
  ): Promise<void> {
    const [digest = ''] = name.split('.');
    if (DIGEST.test(name)) return this.remove(name, isReferenced);
    // None of ours.
    if (digest === name) return;
    if (name.endsWith(ERASED) && (await isReferenced(digest))) {
      // Whoever took it away has died before he saw that he was too late.
      return putBack(path, this.#path(digest));
    }
    if (!this.#pins.has(digest)) await rm(path, { force: true });
  }

  /** Rows may have come from elsewhere with their project: what is no digest is missing, and leads nowhere else. */
  #path(digest: string): string {
    if (!DIGEST.test(digest)) {
      throw Object.assign(new Error(`${digest} isn't a blob's digest.`), { code: 'ENOENT' });
    }
    return join(this.#folder, digest.slice(0, 2), digest);
  }

  #incoming(name: string, end = '.tmp'): string {
    return join(this.#folder, INCOMING, `${name}${end}`);
  }
}

/** Moves a file away, and deletes it once it is sure that it was the old one. */
class FileErasure implements Erasure {
  readonly #path: string;
  readonly #away: string;

  constructor(path: string, away: string) {
    this.#path = path;
    this.#away = away;
  }

  async take(): Promise<void> {
    const now = new Date();
    makeFolder(dirname(this.#away));
    try {
      // A sweep leaves alone what has changed just now.
      await utimes(this.#path, now, now);
      await rename(this.#path, this.#away);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async finish(isClaimed: boolean): Promise<void> {
    if (isClaimed) return rm(this.#away, { force: true });
    await putBack(this.#away, this.#path).catch((error: unknown) => {
      // Nothing was taken away.
      if (!isMissing(error)) throw error;
    });
  }
}

/** Runs what writes a temporary file and moves it to where it belongs. Leaves no file when that fails. */
async function wholeOrNothing<T>(temporary: string, work: () => Promise<T>): Promise<T> {
  try {
    makeFolder(dirname(temporary));
    return await work();
  } catch (error) {
    await rm(temporary, { force: true });
    throw isDiskTrouble(error) ? unavailable(5, error) : error;
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
  return isFault(error, 'ENOENT');
}
