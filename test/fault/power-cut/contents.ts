/** Something that is done to the bytes of a file: bytes at a place, or another length. */
export type Change =
  | { readonly offset: number; readonly bytes: Buffer }
  | { readonly length: number };

/** The bytes of a file. What nobody wrote is zeros. */
export class Contents {
  #buffer: Buffer;
  #length: number;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#buffer = Buffer.from(bytes);
    this.#length = bytes.length;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  apply(change: Change): void {
    if ('length' in change) return this.#resize(change.length);
    const { offset, bytes } = change;
    this.#resize(Math.max(this.#length, offset + bytes.length));
    bytes.copy(this.#buffer, offset);
  }

  #resize(length: number): void {
    if (length > this.#buffer.length) {
      const larger = Buffer.alloc(2 * length);
      this.bytes.copy(larger);
      this.#buffer = larger;
    }
    this.#buffer.fill(0, length, Math.max(length, this.#length));
    this.#length = length;
  }
}
