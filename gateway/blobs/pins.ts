import type { PinnedBlob } from '../../shared/kernel/context.ts';
import type { Erasure, SharedPins } from './shared-pins.ts';

/** How the bytes of a blob are taken away. */
interface Eraser {
  /** Where nobody else may store the same. */
  readonly erase: () => Promise<void>;
  /** Where others may. */
  readonly begin: () => Promise<Erasure>;
}

/**
 * What keeps a blob from going while somebody works with it: names that are held, and what is done to a digest one after
 * another. The same for every place where blobs are kept.
 */
export class Pins {
  readonly #held = new Map<string, number>();
  /** The last that was begun on a digest; none of them rejects. */
  readonly #turns = new Map<string, Promise<void>>();
  readonly #onFree: (digest: string) => void;
  readonly #shared: SharedPins | null;

  /**
   * `onFree` is told of each pinned digest that nobody holds any more. `shared` tells other processes, and is null where
   * there are none.
   */
  constructor(onFree: (digest: string) => void, shared: SharedPins | null) {
    this.#onFree = onFree;
    this.#shared = shared;
  }

  has(name: string): boolean {
    return this.#held.has(name);
  }

  /** Holds a name until what is returned is called; that answers whether nobody else holds it. */
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

  /** Holds a digest from before `store` until the caller lets go of it, or until `store` fails. */
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

  /** Erases a blob unless it is pinned or `isReferenced` says that a row names it again. */
  async remove(
    digest: string,
    isReferenced: (digest: string) => Promise<boolean>,
    { erase, begin }: Eraser,
  ): Promise<void> {
    if (this.has(digest)) return;
    await this.#inTurn(digest, async () => {
      if (this.has(digest)) return;
      const isLeft = this.#shared?.isLeft(digest) ?? false;
      // A read first: a sweep finds most blobs named, and a claim is a write.
      if (!isLeft && ((await isReferenced(digest)) || this.has(digest))) return;
      await (this.#shared ? this.#shared.erase(digest, begin) : erase());
    });
  }

  /** So a removal takes away old bytes only, and whoever finds bytes in place finds them whole. */
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
