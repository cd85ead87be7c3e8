import type { CopyMarks } from './copy-marks.ts';

const LOOK_MS = 5000;
/** Erasures that were postponed start again in portions, so that they don't crowd out other work. */
const PORTION = 100;
const PORTION_MS = 100;

/** Erasures that wait until nobody copies the blobs any more. If the process ends first, a sweep erases the blobs. */
export class PostponedErasures {
  readonly #marks: Pick<CopyMarks, 'isCopying'>;
  readonly #startAgain: (digest: string) => void;
  readonly #digests = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(marks: Pick<CopyMarks, 'isCopying'>, startAgain: (digest: string) => void) {
    this.#marks = marks;
    this.#startAgain = startAgain;
  }

  /** Whether the blob has to stay for now; then its erasure starts again later. */
  async postpones(digest: string): Promise<boolean> {
    if (!(await this.#marks.isCopying())) return false;
    this.#digests.add(digest);
    this.#lookIn(LOOK_MS);
    return true;
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #lookIn(ms: number): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    // A place that can't be read now may be readable later.
    const isCopying = await this.#marks.isCopying().catch(() => true);
    this.#timer = null;
    if (isCopying) return this.#lookIn(LOOK_MS);
    for (const digest of [...this.#digests].slice(0, PORTION)) {
      this.#digests.delete(digest);
      this.#startAgain(digest);
    }
    if (this.#digests.size > 0) this.#lookIn(PORTION_MS);
  }
}
