import type { PinnedBlob } from '../../shared/kernel/context.ts';
import type { Erasure, SharedPins } from '../cluster/shared-pins.ts';
import type { CopyMarks } from './copy-marks.ts';
import { PostponedErasures } from './postponed-erasures.ts';

/** Pins that other processes see; null if there are none. */
export type OthersPins = Pick<SharedPins, 'erase' | 'isLeft' | 'leave' | 'pin'> | null;

/** How a blob's bytes are removed. */
interface Eraser {
  /** If no other process may store the same bytes. */
  readonly erase: () => Promise<void>;
  /** If others may. */
  readonly begin: () => Promise<Erasure>;
}

/**
 * Keeps a blob from being deleted while something uses it: it pins names and runs the work on each digest in order. All
 * blob stores use it.
 */
export class Pins {
  readonly #held = new Map<string, number>();
  /** The last work started on each digest; none of it rejects. */
  readonly #turns = new Map<string, Promise<void>>();
  readonly #onFree: (digest: string) => void;
  readonly #shared: OthersPins;
  readonly #postponed: PostponedErasures;

  /**
   * `onFree` gets each digest that nobody pins any more, or that nobody copies any more. `marks`: a blob isn't removed
   * while a process copies it.
   */
  constructor(onFree: (digest: string) => void, shared: OthersPins, marks: CopyMarks) {
    this.#onFree = onFree;
    this.#shared = shared;
    this.#postponed = new PostponedErasures(marks, onFree);
  }

  /** Removals that wait for the end of a copy don't start any more. */
  close(): void {
    this.#postponed.close();
  }

  has(name: string): boolean {
    return this.#held.has(name);
  }

  /** Pins a name until the returned function is called, which returns whether nobody else pins it. */
  hold(name: string): () => boolean {
    this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return false;
      isHeld = false;
      const left = (this.#held.get(name) ?? 1) - 1;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
      return left <= 0;
    };
  }

  /** Pins a digest from before `store` until the caller releases it or `store` fails. */
  async pinned(digest: string, store: () => Promise<void>): Promise<PinnedBlob> {
    const unpin = this.hold(digest);
    const release = (): void => {
      if (!unpin()) return;
      this.#shared?.leave(digest);
      this.#onFree(digest);
    };
    try {
      const shared = this.#shared;
      await this.#inTurn(digest, shared ? () => shared.pin(digest).then(store) : store);
    } catch (error) {
      release();
      throw error;
    }
    return { digest, release };
  }

  /** Erases a blob unless it's pinned or `isReferenced` says that a row names it again. */
  async remove(
    digest: string,
    isReferenced: (digest: string) => Promise<boolean>,
    { erase, begin }: Eraser,
  ): Promise<void> {
    if (this.has(digest)) return;
    await this.#inTurn(digest, async () => {
      if (this.has(digest)) return;
      const isLeft = this.#shared?.isLeft(digest) ?? false;
      // Read first: rows name most blobs that a sweep looks at, and a claim is a write.
      if (!isLeft && ((await isReferenced(digest)) || this.has(digest))) return;
      // Look for copies last: a snapshot that was made since may name the blob.
      const isPostponed = () => this.#postponed.postpones(digest);
      if (this.#shared) await this.#shared.erase(digest, begin, isPostponed);
      else if (!(await isPostponed())) await erase();
    });
  }

  /** Runs work on a digest in order, so a removal takes only old bytes, and bytes that are in place are complete. */
  async #inTurn(digest: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(digest);
    const running = before ? before.then(work) : work();
    const turn = running.catch(() => undefined);
    this.#turns.set(digest, turn);
    try {
      await running;
    } finally {
      if (this.#turns.get(digest) === turn) this.#turns.delete(digest);
    }
  }
}
