import { createHash } from 'node:crypto';
import { Transform, pipeline, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { DamageError, type DamageReport } from '../../shared/store/sums/damage.ts';
import { isFault } from '../lib/durable-files.ts';

/** How many checked blobs are remembered; the oldest are checked again. */
const CHECKED_MAX = 10_000;
/** While another gateway erases a blob, it's away for a moment, and comes back if it was needed after all. */
const LOOKS = 3;
const LOOK_AGAIN_MS = 50;

/** Where a project's blob store reports damage, and how it knows that a missing blob is one. */
export interface BlobWatch {
  readonly project: string;
  readonly register: {
    nameOf(path: string): string;
    report(damage: DamageReport): void;
    resolve(file: string, what?: string): void;
    has(file: string, what: string): boolean;
  };
  /** Whether a row names the blob. */
  isReferenced(digest: string): Promise<boolean>;
}

/** For a store whose user checks what it reads. */
export const UNWATCHED: BlobWatch = {
  project: '',
  register: {
    nameOf: (path) => path,
    report: () => undefined,
    resolve: () => undefined,
    has: () => false,
  },
  isReferenced: async () => false,
};

/** Compares bytes with the digest that names them, as they pass. */
export class DigestCheck {
  readonly #sum = createHash('sha256');
  readonly #digest: string;
  readonly #damaged: () => DamageError;

  constructor(digest: string, damaged: () => DamageError) {
    this.#digest = digest;
    this.#damaged = damaged;
  }

  add(bytes: Uint8Array): void {
    this.#sum.update(bytes);
  }

  /** Throws a `DamageError` unless the bytes were the blob's. */
  end(): void {
    if (this.#sum.digest('hex') !== this.#digest) throw this.#damaged();
  }

  /** The error for bytes that can't be read. */
  unreadable(): DamageError {
    return this.#damaged();
  }
}

/** Passes a stream on. Its last chunk comes only if all of it is what the check expects. */
export function checkedStream(source: Readable, check: DigestCheck): Readable {
  let held: Uint8Array | undefined;
  const checked = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      check.add(chunk);
      const before = held;
      held = chunk;
      done(null, before);
    },
    flush(done) {
      try {
        check.end();
        done(null, held);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  pipeline(source, checked, () => undefined);
  return checked;
}

/** Detects and reports damaged blobs of a project, so that nobody gets wrong bytes. */
export class BlobGuard {
  readonly #watch: BlobWatch;
  readonly #fileOf: (digest: string) => string;
  readonly #checked = new Set<string>();
  readonly #checking = new Map<string, Promise<void>>();

  /** `pathOf` gives a blob's path or address. */
  constructor(watch: BlobWatch, pathOf: (digest: string) => string) {
    this.#watch = watch;
    this.#fileOf = (digest) => watch.register.nameOf(pathOf(digest));
  }

  check(digest: string): DigestCheck {
    return new DigestCheck(digest, () => this.damaged(digest));
  }

  /** Reports a blob that isn't what its name says; returns the error for the reader. */
  damaged(digest: string, how?: string): DamageError {
    const damage = { project: this.#watch.project, file: this.#fileOf(digest), what: 'blob' };
    this.#watch.register.report(damage);
    return new DamageError(damage, how);
  }

  isDamaged(digest: string): boolean {
    return this.#watch.register.has(this.#fileOf(digest), 'blob');
  }

  /** The blob is as it should be, or deleted. */
  isWell(digest: string): void {
    this.#watch.register.resolve(this.#fileOf(digest), 'blob');
  }

  /** Opens or reads a blob. ENOENT if no row names it; a `DamageError` if one does, or if the disk can't read it. */
  async found<T>(digest: string, open: () => Promise<T>): Promise<T> {
    for (let look = 1; ; look += 1) {
      try {
        return await open();
      } catch (error) {
        if (isFault(error, 'EIO')) throw this.damaged(digest, "can't be read");
        if (!isFault(error, 'ENOENT') || !(await this.#watch.isReferenced(digest))) throw error;
        if (look === LOOKS) throw this.damaged(digest, 'is missing');
        await sleep(LOOK_AGAIN_MS);
      }
    }
  }

  /**
   * Checks all of a blob before a part of it is read, or somebody reads it elsewhere: once for each process and
   * `identity`, which changes whenever somebody writes to it.
   */
  async once(digest: string, identity: string, sumOf: () => Promise<string>): Promise<void> {
    const key = `${digest} ${identity}`;
    if (this.#checked.has(key)) return;
    const checking = this.#checking.get(key) ?? this.#check(digest, sumOf);
    this.#checking.set(key, checking);
    try {
      await checking;
    } finally {
      this.#checking.delete(key);
    }
    const [oldest] = this.#checked;
    if (this.#checked.size >= CHECKED_MAX && oldest !== undefined) this.#checked.delete(oldest);
    this.#checked.add(key);
  }

  async #check(digest: string, sumOf: () => Promise<string>): Promise<void> {
    if ((await this.found(digest, sumOf)) !== digest) throw this.damaged(digest);
    this.isWell(digest);
  }
}
