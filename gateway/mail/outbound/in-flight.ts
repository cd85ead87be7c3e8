import { Readable } from 'node:stream';

const SLICE_BYTES = 64 * 1024;

/**
 * A mail on its way to a server, tried on one connection after another until one takes it. A connection reads the bytes
 * only when the server is ready for them; from then on no other connection gets them.
 */
export class InFlightMail {
  readonly #pieces: readonly Uint8Array[];
  readonly #beforeData: () => Promise<void>;
  #permission: Promise<void> | null = null;
  #hasBegun = false;
  #isWhole = false;
  #isHeldBack = false;

  /** The mail is its pieces in order. `beforeData` is called at most once, and may reject. */
  constructor(pieces: readonly Uint8Array[], beforeData: () => Promise<void> = async () => {}) {
    this.#pieces = pieces;
    this.#beforeData = beforeData;
  }

  get sizeBytes(): number {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * All bytes went out, and the end mark may have too. A server that never got the end mark has no mail (RFC 5321 section
   * 4.1.1.10).
   */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** `beforeData` rejected, so no byte goes out. */
  get isHeldBack(): boolean {
    return this.#isHeldBack;
  }

  /** Resolves once `beforeData` isn't running. */
  async settled(): Promise<void> {
    await this.#permission?.catch(() => undefined);
  }

  /** The bytes for one connection. A stream that nobody reads needn't be closed. */
  open(): Readable {
    const slices = this.#slices();
    const stream: Readable = new Readable({
      read: () => void this.#feed(stream, slices),
    });
    // A reader gets the error too; without one it doesn't matter.
    stream.on('error', () => undefined);
    if (this.#hasBegun) stream.destroy(new Error('The mail may have been taken before.'));
    return stream;
  }

  async #feed(stream: Readable, slices: Iterator<Uint8Array>): Promise<void> {
    try {
      this.#permission ??= this.#beforeData();
      await this.#permission;
    } catch {
      this.#isHeldBack = true;
      stream.destroy(new Error('The mail was held back.'));
      return;
    }
    // The connection was lost meanwhile: nothing went out, so another one may send it.
    if (stream.destroyed) return;
    this.#hasBegun = true;
    const slice = slices.next().value ?? null;
    this.#isWhole ||= slice === null;
    stream.push(slice);
  }

  *#slices(): Generator<Uint8Array, undefined> {
    for (const piece of this.#pieces) {
      for (let at = 0; at < piece.length; at += SLICE_BYTES) {
        yield piece.subarray(at, at + SLICE_BYTES);
      }
    }
  }
}
