import { Readable } from 'node:stream';

const SLICE_BYTES = 64 * 1024;

/**
 * A mail on its way to a server, over one connection after another until one takes it. A connection reads its bytes when
 * the server has said that it is ready for them, not before; from then on no other connection gets them.
 */
export class InFlightMail {
  readonly #pieces: readonly Uint8Array[];
  readonly #beforeData: () => Promise<void>;
  #permission: Promise<void> | null = null;
  #hasBegun = false;
  #isWhole = false;
  #isHeldBack = false;

  /** The mail is the pieces one behind the other. `beforeData` is called once at most, and may reject. */
  constructor(pieces: readonly Uint8Array[], beforeData: () => Promise<void> = async () => {}) {
    this.#pieces = pieces;
    this.#beforeData = beforeData;
  }

  get sizeBytes(): number {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * All of its bytes went out, and their end may have. A server that was not told the end of a mail has none (RFC 5321
   * section 4.1.1.10).
   */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** `beforeData` rejected, so none will. */
  get isHeldBack(): boolean {
    return this.#isHeldBack;
  }

  /** Resolves when `beforeData` is not under way. */
  async settled(): Promise<void> {
    await this.#permission?.catch(() => undefined);
  }

  /** The bytes for one connection. One that was never read from needs no end. */
  open(): Readable {
    const slices = this.#slices();
    const stream: Readable = new Readable({
      read: () => void this.#feed(stream, slices),
    });
    // Whoever reads it hears of an error; where nobody does by now, it is nobody's.
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
    // The connection was lost meanwhile: nothing went out, and another may have it.
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
