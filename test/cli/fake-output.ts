import { TerminalOutput, type OutputOptions, type Sink } from '../../cli/view/output.ts';

/** A stream that remembers what was written to it. */
export class TextSink implements Sink {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  text = '';

  constructor(isTTY = false, columns?: number) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(data: string | Uint8Array, done?: (error?: Error | null) => void): boolean {
    this.text += typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
    done?.();
    return true;
  }
}

const now = () => Date.parse('2026-01-02T12:00:00.000Z');

/** An output into two such streams. */
export function testOutput(options: Partial<OutputOptions> & { terminal?: boolean } = {}) {
  const { terminal = false, ...rest } = options;
  const stdout = new TextSink(terminal, 80);
  const stderr = new TextSink(false);
  const plain = { json: false, quiet: false, color: false, now };
  return { stdout, stderr, output: new TerminalOutput({ stdout, stderr, ...plain, ...rest }) };
}
