import { Writable, type Readable } from 'node:stream';
import { writeNumbers } from '../../shared/api/mcp/numbers.ts';

const NEWLINE = 0x0a;
/** Longer messages are refused by every server; beyond this they are not even kept. */
export const LINE_MAX_BYTES = 32 * 1024 * 1024;

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

/** Writes lines with their numbers as they were written, as fast as the reader takes them. */
export class LineWriter extends Writable {
  readonly #output: Writable;
  #isGone = false;

  constructor(output: Writable) {
    super({ decodeStrings: false });
    this.#output = output;
    // A reader that went away ends the input too; there is nobody left to tell.
    const gone = (): unknown => (this.#isGone = true);
    output.on('error', gone);
    output.on('close', gone);
    this.on('error', gone);
    // Each message that waits for room listens for it.
    this.setMaxListeners(0);
  }

  override _write(line: string, _encoding: string, done: () => void): void {
    if (this.#isGone) return done();
    this.#output.write(writeNumbers(line), () => done());
  }
}
