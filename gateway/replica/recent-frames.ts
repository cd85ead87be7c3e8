/** Keeps recently read frames, because all replicas of a project ask for the same ones at the same time. */
export class RecentFrames {
  readonly #maxBytes: number;
  readonly #found = new Map<string, Buffer>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(place: string): Buffer | undefined {
    return this.#found.get(place);
  }

  /** Committed frames never change, so entries leave only to make room, oldest first. */
  set(place: string, frames: Buffer): void {
    if (frames.length > this.#maxBytes || this.#found.has(place)) return;
    this.#found.set(place, frames);
    this.#bytes += frames.length;
    for (const [oldest, { length }] of this.#found) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#found.delete(oldest);
      this.#bytes -= length;
    }
  }
}
