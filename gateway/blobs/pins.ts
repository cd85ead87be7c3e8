import type { PinnedBlob } from '../../shared/context.ts';

/**
 * What keeps a blob from going while somebody works with it: names that are held, and what is done to a digest one after
 * another. The same for every place where blobs are kept.
 */
export class Pins {
  readonly #held = new Map<string, number>();
  /** The last that was begun on a digest; none of them rejects. */
  readonly #turns = new Map<string, Promise<void>>();
  readonly #onFree: (digest: string) => void;

  /** `onFree` is told of each pinned digest that nobody holds any more. */
  constructor(onFree: (digest: string) => void) {
    this.#onFree = onFree;
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
      if (unpin()) this.#onFree(digest);
    };
    try {
      await this.#inTurn(digest, store);
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
    erase: () => Promise<void>,
  ): Promise<void> {
    if (this.has(digest)) return;
    await this.#inTurn(digest, async () => {
      if (this.has(digest) || (await isReferenced(digest)) || this.has(digest)) return;
      await erase();
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
