const KIB = 1024;

/**
 * Large enough to read a file of a few MB in one or two steps, because each step is a trip to another thread and
 * back.
 */
const LARGE_BYTES = 2048 * KIB;
const LARGE_MAX = 8;
const SMALL_BYTES = 64 * KIB;

/**
 * Memory for downloads. A few downloads get large chunks, which are reused. All others get small ones, so thousands
 * of clients that read nothing cost little.
 */
export class Chunks {
  readonly #spare: Buffer[] = [];
  #large = 0;

  /** Returns a chunk for a download of `sizeBytes`, read a part at a time. */
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

  /** `isFree`: no write still uses the chunk. */
  release(chunk: Buffer, isFree: boolean): void {
    if (chunk.length !== LARGE_BYTES) return;
    if (isFree) this.#spare.push(chunk);
    else this.#large -= 1;
  }
}
