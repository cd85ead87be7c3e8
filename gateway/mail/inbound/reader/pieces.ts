/**
 * Replaces `Blob` in the thread that reads mails. The parser makes one from all lines of a part, only to get its bytes.
 * For 25 MB of text that takes seven seconds with Node's `Blob`, and a third of a second with this one.
 */
export class Pieces {
  readonly #pieces: readonly (string | ArrayBuffer | Uint8Array)[];

  constructor(pieces: readonly (string | ArrayBuffer | Uint8Array)[]) {
    this.#pieces = pieces;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    const size = this.#pieces.reduce((sum, piece) => sum + sizeOf(piece), 0);
    const whole = new Uint8Array(size);
    let at = 0;
    for (const piece of this.#pieces) {
      // The parser puts a line end after each line.
      if (piece === '\n') whole[at] = 0x0a;
      else whole.set(bytesOf(piece), at);
      at += sizeOf(piece);
    }
    return Promise.resolve(whole.buffer);
  }
}

function sizeOf(piece: string | ArrayBuffer | Uint8Array): number {
  return typeof piece === 'string' ? Buffer.byteLength(piece) : piece.byteLength;
}

function bytesOf(piece: string | ArrayBuffer | Uint8Array): Uint8Array {
  if (typeof piece === 'string') return Buffer.from(piece);
  return piece instanceof ArrayBuffer ? new Uint8Array(piece) : piece;
}
