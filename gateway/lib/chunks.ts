const KIB = 1024;

/** A file of a few MB is read in one or two steps: each is a way to another thread and back. */
const LARGE_BYTES = 2048 * KIB;
const LARGE_MAX = 8;
const SMALL_BYTES = 64 * KIB;

/**
 * Memory for downloads. A few have large chunks, which are kept for the next; all others, be they thousands whose clients
 * take nothing, have small ones of their own.
 */
export class Chunks {
  readonly #spare: Buffer[] = [];
  #large = 0;

  /** For so many bytes, a part at a time. */
  take(sizeBytes: number): Buffer {
    if (sizeBytes > SMALL_BYTES) {
      const spare = this.#spare.pop();
      if (spare) return spare;
      if (this.#large < LARGE_MAX) {
        this.#large += 1;
        return Buffer.allocUnsafeSlow(LARGE_BYTES);
      }
    }
    return Buffer.allocUnsafeSlow(Math.min(sizeBytes, SMALL_BYTES));
  }

  /** `isFree`: nobody reads it any more. */
  release(chunk: Buffer, isFree: boolean): void {
    if (chunk.length !== LARGE_BYTES) return;
    if (isFree) this.#spare.push(chunk);
    else this.#large -= 1;
  }
}
