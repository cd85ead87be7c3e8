import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../shared/lib/clock.ts';
import { unavailable } from '../../shared/lib/errors.ts';
import type { ProjectWrites } from '../commit/writers.ts';

/** How long a store of bytes waits for an erasure, a look at a time. */
const WAITS_MS: readonly number[] = [10, 20, 50, 100, 200, 500, 1000, 1000, 1000];
const RETRY_AFTER_SECONDS = 5;

/**
 * One attempt to take the bytes of a blob away, made before it is claimed. It may come to act long after its claim has
 * lapsed, when somebody has stored the same bytes again; those are not to be lost.
 */
export interface Erasure {
  /** Takes the bytes away so that they can be put back, or not at all later than a minute after the attempt was made. */
  take(): Promise<void>;
  /** `isClaimed`: they were old ones. Else they may be new ones, and go back to where they were. */
  finish(isClaimed: boolean): Promise<void>;
}

interface SharedPinsOptions {
  /** Names this process, at random. */
  readonly holder: string;
  readonly waitsMs?: readonly number[];
}

/**
 * Pins that other processes see, as rows of the project's database, where erasing is a claim. Why a blob that a row names
 * has its bytes, whoever stops or dies where:
 *
 * 1. Of a digest there is a pin or an erasure, never both, nor an erasure beside a row that names it: each is made in a
 *    transaction that looks for the other two.
 * 2. Bytes are stored, or found in place, after their pin was committed. So they are newer than every erasure that was
 *    over by then, and no other begins while the pin is there. A process that dies leaves a pin that lapses.
 * 3. A pin that has lapsed is deleted by the claim that overrides it, and a row may name new bytes only while the pin is
 *    there. So whoever stood still for too long is refused when he names them, by no clock.
 * 4. Callers in one process share a pin. While one relies on it, it is renewed only if it is still there.
 * 5. A process that dies while it erases leaves a claim that lapses, and is forgotten then. One that only stood still may
 *    take bytes away after that: the bucket refuses it, a folder gets them back. See `Erasure`.
 * 6. When the answer to a commit is lost, nothing is taken to be done: what it may have left lapses.
 */
export class SharedPins {
  readonly #writes: Pick<ProjectWrites, 'run'>;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #waitsMs: readonly number[];
  /** Digests with a pin: whether somebody relies on it, or it is to be deleted. */
  readonly #pins = new Map<string, 'held' | 'left'>();

  constructor(writes: Pick<ProjectWrites, 'run'>, clock: Clock, options: SharedPinsOptions) {
    this.#writes = writes;
    this.#clock = clock;
    this.#holder = options.holder;
    this.#waitsMs = options.waitsMs ?? WAITS_MS;
  }

  /** Waits while the blob is being erased: UNAVAILABLE when that takes long, because somebody died over it. */
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

  /** Nobody in this process relies on the pin any more. `erase` deletes it. */
  leave(digest: string): void {
    this.#pins.set(digest, 'left');
  }

  /** Whether there may be a pin to delete. */
  isLeft(digest: string): boolean {
    return this.#pins.get(digest) === 'left';
  }

  /** Deletes the pin of this process, and erases the blob unless a row names it or another process has to do with it. */
  async erase(digest: string, begin: () => Promise<Erasure>): Promise<void> {
    // Should it not be deleted after all, it lapses.
    this.#pins.delete(digest);
    const erasure = await begin();
    const claim = randomUUID();
    const wanted = { digest, holder: this.#holder, claim, now: this.#clock.now() };
    if (!(await this.#writes.run('claimErasure', wanted))) return;
    await erasure.take();
    await erasure.finish(await this.#writes.run('endErasure', { digest, claim }));
  }
}
