import { Writable, type Readable } from 'node:stream';
import { writeNumbers } from '../../shared/api/mcp/numbers.ts';

const NEWLINE = 0x0a;
/** Every server refuses longer messages, so the bridge doesn't even keep them. */
export const LINE_MAX_BYTES = 32 * 1024 * 1024;

/**
 * Yields a stream's lines without line ends; null for one that is too long. Only a line feed ends a line, because other
 * separators may appear inside a JSON string.
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

/** Writes lines as fast as the reader takes them; numbers stay as they were written. */
export class LineWriter extends Writable {
  readonly #output: Writable;
  #isGone = false;

  constructor(output: Writable) {
    super({ decodeStrings: false });
    this.#output = output;
    // If the reader is gone, the input ends too and nobody is left to tell.
    const gone = (): unknown => (this.#isGone = true);
    output.on('error', gone);
    output.on('close', gone);
    this.on('error', gone);
    // Each message that waits for the reader adds a listener.
    this.setMaxListeners(0);
  }

  override _write(line: string, _encoding: string, done: () => void): void {
    if (this.#isGone) return done();
    this.#output.write(writeNumbers(line), () => done());
  }
}
