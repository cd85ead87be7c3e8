import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../shared/lib/clock.ts';
import { unavailable } from '../../shared/lib/errors.ts';
import type { ProjectWrites } from '../commit/thread/writers.ts';

/** How long storing bytes waits for an erasure, and how often it checks. */
const WAITS_MS: readonly number[] = [10, 20, 50, 100, 200, 500, 1000, 1000, 1000];
const RETRY_AFTER_SECONDS = 5;

/**
 * One attempt to remove a blob's bytes, created before the claim. It may act long after its claim has lapsed, when
 * somebody has stored the same bytes again; those must not be lost.
 */
export interface Erasure {
  /** Removes the bytes so that they can be put back, or refuses if the attempt is more than a minute old. */
  take(): Promise<void>;
  /** `isClaimed`: the bytes were old. Otherwise they may be new and are put back. */
  finish(isClaimed: boolean): Promise<void>;
}

interface SharedPinsOptions {
  /** A random name for this process. */
  readonly holder: string;
  readonly waitsMs?: readonly number[];
}

/**
 * Pins that other processes see, as rows in the project's database; an erasure is a claim there. A blob that a row names
 * keeps its bytes wherever a process stops or dies, because:
 *
 * 1. A digest has a pin or an erasure, never both, and no erasure while a row names it: each is created in a transaction
 *    that checks for the other two.
 * 2. Bytes are stored, or found in place, after their pin was committed. So they are newer than every erasure that was
 *    over by then, and none starts while the pin exists. A process that dies leaves a pin that lapses.
 * 3. A claim deletes the lapsed pin that it overrides, and a row may name new bytes only while their pin exists. So a
 *    process that was suspended for too long is refused when it names them, without comparing clocks.
 * 4. Callers in one process share a pin. While one relies on it, it's renewed only if it still exists.
 * 5. A process that dies during an erasure leaves a claim that lapses and is then ignored. A process that was only
 *    suspended may remove bytes after that: a bucket refuses, and a folder gets them back. See `Erasure`.
 * 6. If the answer to a commit is lost, nothing counts as done, and its possible leftovers lapse.
 */
export class SharedPins {
  readonly #writes: Pick<ProjectWrites, 'run'>;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #waitsMs: readonly number[];
  /** Pinned digests: whether somebody relies on the pin, or it's to be deleted. */
  readonly #pins = new Map<string, 'held' | 'left'>();

  constructor(writes: Pick<ProjectWrites, 'run'>, clock: Clock, options: SharedPinsOptions) {
    this.#writes = writes;
    this.#clock = clock;
    this.#holder = options.holder;
    this.#waitsMs = options.waitsMs ?? WAITS_MS;
  }

  /** Waits while the blob is being erased. UNAVAILABLE if that takes too long, because the eraser died. */
  async pin(digest: string): Promise<void> {
    for (const waitMs of [...this.#waitsMs, null]) {
      const isHeld = this.#pins.get(digest) === 'held';
      const pin = { digest, holder: this.#holder, isHeld, now: this.#clock.now() };
      if (await this.#writes.run('pinBlob', pin)) {
        this.#pins.set(digest, 'held');
        return;
      }
      if (waitMs !== null) await sleep(waitMs);
    }
    throw unavailable(RETRY_AFTER_SECONDS, new Error(`Blob ${digest} is being erased.`));
  }

  /** Call when nobody in this process relies on the pin any more; `erase` deletes it. */
  leave(digest: string): void {
    this.#pins.set(digest, 'left');
  }

  /** Whether there may be a pin to delete. */
  isLeft(digest: string): boolean {
    return this.#pins.get(digest) === 'left';
  }

  /** Deletes this process's pin and erases the blob, unless a row names it or another process is using or copying it. */
  async erase(
    digest: string,
    begin: () => Promise<Erasure>,
    isPostponed: () => Promise<boolean>,
  ): Promise<void> {
    // If it isn't deleted, it lapses.
    this.#pins.delete(digest);
    const erasure = await begin();
    const claim = randomUUID();
    const wanted = { digest, holder: this.#holder, claim, now: this.#clock.now() };
    if (!(await this.#writes.run('claimErasure', wanted))) return;
    if (await isPostponed()) {
      await this.#writes.run('endErasure', { digest, claim });
      return;
    }
    await erasure.take();
    await erasure.finish(await this.#writes.run('endErasure', { digest, claim }));
  }
}
