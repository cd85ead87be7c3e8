import type { PinnedBlob } from '../../shared/context.ts';

/**
 * What keeps a blob from going while somebody works with it: names that are held, and removals under way. The same for
 * every place where blobs are kept.
 */
export class Pins {
  readonly #held = new Map<string, number>();
  readonly #removals = new Map<string, Promise<void>>();
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
      // It may take away the old bytes only, never those that are stored now.
      await this.#removals.get(digest)?.catch(() => undefined);
      await store();
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
    if (this.has(digest) || (await isReferenced(digest)) || this.has(digest)) return;
    const running = this.#removals.get(digest);
    if (running) return running;
    const removal = erase().finally(() => {
      this.#removals.delete(digest);
    });
    this.#removals.set(digest, removal);
    await removal;
  }
}
