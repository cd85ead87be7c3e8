import type { Readable, Writable } from 'node:stream';

const NEWLINE = 0x0a;
/** Longer messages are refused by every server; beyond this they are not even kept. */
const LINE_MAX_BYTES = 32 * 1024 * 1024;

/**
 * The lines of a stream, without their ends; null for one that is too long. Only a line feed ends a line: the
 * separators that text readers know besides may stand inside a JSON string.
 */
export async function* readLines(input: Readable): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      bytes += at - from;
      yield bytes > LINE_MAX_BYTES ? null : Buffer.concat([...parts, chunk.subarray(from, at)]);
      parts = [];
      bytes = 0;
      from = at + 1;
    }
    bytes += chunk.length - from;
    if (bytes > LINE_MAX_BYTES) parts = [];
    else if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (bytes > 0) yield bytes > LINE_MAX_BYTES ? null : Buffer.concat(parts);
}

/** Writes whole lines one after another, as fast as the reader takes them. */
export class LineWriter {
  readonly #output: Writable;
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(output: Writable) {
    this.#output = output;
    // A reader that went away ends the input too; there is nobody left to tell.
    output.on('error', () => (this.#closed = true));
    output.on('close', () => (this.#closed = true));
  }

  /** Resolves when the reader has room for more. Line ends between the tokens of the JSON become blanks. */
  write(json: string): Promise<void> {
    this.#last = this.#last.then(() => this.#put(`${json.replace(/[\r\n]+/g, ' ').trim()}\n`));
    return this.#last;
  }

  async #put(line: string): Promise<void> {
    if (this.#closed || this.#output.write(line)) return;
    await new Promise<void>((resolve) => {
      const output = this.#output;
      const go = (): void => {
        for (const name of WAKING) output.off(name, go);
        resolve();
      };
      for (const name of WAKING) output.once(name, go);
    });
  }
}

/** What ends the wait for a slow reader: it has room, or it is gone. */
const WAKING = ['drain', 'close', 'error'] as const;
