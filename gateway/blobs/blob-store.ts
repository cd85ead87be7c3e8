import { createHash, randomUUID } from 'node:crypto';
import { closeSync, createReadStream, existsSync, fstatSync, openSync } from 'node:fs';
import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { lengthOf, sha256Of, type Bytes } from '../../shared/lib/bytes.ts';
import type { BlobStore, PinnedBlob } from '../../shared/kernel/context.ts';
import { diskRefusal } from '../../shared/store/engine/disk-trouble.ts';
import { makeFolder } from '../../shared/host/make-folder.ts';
import {
  isFault,
  isInPlace,
  listing,
  moveInPlace,
  putBack,
  writeInPlace,
  writeStreamSynced,
  writeThenMove,
} from '../lib/durable-files.ts';
import {
  BlobGuard,
  checkedStream,
  UNWATCHED,
  type BlobWatch,
  type DigestCheck,
} from './blob-guard.ts';
import { folderMarks } from './copy-marks.ts';
import { Pins, type OthersPins } from './pins.ts';

/** A file that no row names may be about to get one, so a sweep leaves it alone for this long. */
const ORPHAN_GRACE_MS = 3_600_000;
/** The folder for bytes whose digest isn't known yet. */
const INCOMING = 'incoming';
const DIGEST = /^[0-9a-f]{64}$/;
/** The suffix of a file that is still being erased; it lies in the folder for incoming bytes. */
const ERASED = '.erased';

/** An open blob, for whoever closes it. */
export interface OpenBlob {
  readonly file: number;
  /** For its bytes as they are read; null if they are known to be right. */
  readonly check: DigestCheck | null;
}

/**
 * Content-addressed files: `ab/<sha256>`. Before a row may name a file, it's written, synced and moved into place, and
 * its folder is synced. It's deleted only after the commit that dropped the last row, and never while it's pinned or a
 * process copies the project: see `CopyMarks`.
 */
export class FileBlobStore implements BlobStore {
  readonly #folder: string;
  /** Pins by the first part of a file's name: a digest, or the name of incoming bytes. */
  readonly #pins: Pins;
  readonly #isShared: boolean;
  readonly #admit: (bytes: number) => void;
  readonly #guard: BlobGuard;

  /**
   * `onFree` gets each digest that nobody pins or copies any more; `shared` is null if no other process uses the folder.
   * `admit` throws if the disk has no room for this many bytes. `watch` gets to know of damage.
   */
  constructor(
    folder: string,
    onFree: (digest: string) => void = () => {},
    shared: OthersPins = null,
    {
      admit = () => undefined,
      watch = UNWATCHED,
    }: { readonly admit?: (bytes: number) => void; readonly watch?: BlobWatch } = {},
  ) {
    this.#folder = folder;
    this.#admit = admit;
    this.#guard = new BlobGuard(watch, (digest) => this.#path(digest));
    this.#pins = new Pins(onFree, shared, folderMarks(dirname(folder)));
    this.#isShared = shared !== null;
  }

  async put(bytes: Bytes, digest = sha256Of(bytes)): Promise<PinnedBlob> {
    this.#admit(lengthOf(bytes));
    const path = this.#path(digest);
    return this.#stored(digest, async () => {
      if (await isInPlace(path, bytes)) return;
      const temporary = this.#incoming(`${digest}.${randomUUID()}`);
      // Rows may name the file that is there, so only a durable one may replace it.
      const isCareful = this.#isShared || existsSync(path);
      const write = isCareful ? writeThenMove : writeInPlace;
      await wholeOrNothing(temporary, () => write(temporary, path, bytes));
    });
  }

  /** Throws BlobSizeError unless exactly `sizeBytes` arrive. */
  async putStream(chunks: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<PinnedBlob> {
    this.#admit(sizeBytes);
    const name = randomUUID();
    // However slowly they arrive, no sweep takes them for orphans.
    const unpin = this.#pins.hold(name);
    const temporary = this.#incoming(name);
    try {
      return await wholeOrNothing(temporary, async () => {
        const digest = await writeStreamSynced(temporary, chunks, sizeBytes);
        return this.#stored(digest, () => moveInPlace(temporary, this.#path(digest)));
      });
    } finally {
      unpin();
    }
  }

  async read(digest: string): Promise<Uint8Array> {
    const bytes = await this.#guard.found(digest, () => readFile(this.#path(digest)));
    if (sha256Of(bytes) !== digest) throw this.#guard.damaged(digest);
    return bytes;
  }

  async open(digest: string): Promise<Readable> {
    const file = await this.#guard.found(digest, () => open(this.#path(digest), 'r'));
    return checkedStream(file.createReadStream(), this.#guard.check(digest));
  }

  /**
   * Opens the file before promising it: a removal takes the name away, but an open file keeps its bytes until it's closed.
   * For a reader of a part, all of it is checked first.
   */
  async openFile(digest: string, { isWhole }: { readonly isWhole: boolean }): Promise<OpenBlob> {
    const file = await this.#guard.found(digest, async () => openSync(this.#path(digest), 'r'));
    if (isWhole) return { file, check: this.#guard.check(digest) };
    const { ino, size, mtimeMs, ctimeMs } = fstatSync(file);
    const identity = [ino, size, mtimeMs, ctimeMs].join(' ');
    try {
      await this.#guard.once(digest, identity, () => sumOf(file));
    } catch (error) {
      closeSync(file);
      throw error;
    }
    return { file, check: null };
  }

  close(): void {
    this.#pins.close();
  }

  /** Deletes a blob unless it's pinned or copied, or `isReferenced` says that a row names it again. */
  async remove(digest: string, isReferenced: (digest: string) => Promise<boolean>): Promise<void> {
    const path = this.#path(digest);
    return this.#pins.remove(digest, isReferenced, {
      erase: async () => {
        await rm(path, { force: true });
        this.#guard.isWell(digest);
      },
      begin: async () => new FileErasure(path, this.#incoming(`${digest}.${randomUUID()}`, ERASED)),
    });
  }

  /** Deletes files that no row names, left by a crash between the file and its row. Stops early if asked to. */
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

  async #stored(digest: string, store: () => Promise<void>): Promise<PinnedBlob> {
    const pinned = await this.#pins.pinned(digest, store);
    this.#guard.isWell(digest);
    return pinned;
  }

  async #sweepOne(
    path: string,
    name: string,
    isReferenced: (digest: string) => Promise<boolean>,
  ): Promise<void> {
    const [digest = ''] = name.split('.');
    if (DIGEST.test(name)) return this.remove(name, isReferenced);
    // Not one of ours.
    if (digest === name) return;
    if (name.endsWith(ERASED) && (await isReferenced(digest))) {
      // The process that took it away died before it noticed that it was too late.
      return putBack(path, this.#path(digest));
    }
    if (!this.#pins.has(digest)) await rm(path, { force: true });
  }

  /** Rows may have been imported with their project: a name that isn't a digest counts as missing and leads nowhere else. */
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

/** Moves a file away, and deletes it once it's certain that it was the old one. */
class FileErasure {
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
      // A sweep leaves files alone that changed just now.
      await utimes(this.#path, now, now);
      await rename(this.#path, this.#away);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async finish(isClaimed: boolean): Promise<void> {
    if (isClaimed) return rm(this.#away, { force: true });
    await putBack(this.#away, this.#path).catch((error: unknown) => {
      // Nothing was moved away.
      if (!isMissing(error)) throw error;
    });
  }
}

/** Writes a temporary file and moves it into place. Leaves no file behind if that fails. */
async function wholeOrNothing<T>(temporary: string, work: () => Promise<T>): Promise<T> {
  try {
    makeFolder(dirname(temporary));
    return await work();
  } catch (error) {
    await rm(temporary, { force: true });
    // Every attempt starts with a new file, so the caller may try again.
    throw diskRefusal(error) ?? error;
  }
}

/** The SHA-256 of an open file, which stays open. */
async function sumOf(file: number): Promise<string> {
  const sum = createHash('sha256');
  const chunks = createReadStream('', { fd: file, autoClose: false, start: 0 });
  for await (const chunk of chunks) sum.update(chunk as Uint8Array);
  return sum.digest('hex');
}

/** Null if the file doesn't exist. */
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
