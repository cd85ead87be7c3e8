import { createInterface, type Interface } from 'node:readline';
import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';
import { switchOption } from './option-values.ts';
import type { Sink } from '../view/output.ts';
import { safeLine } from '../view/terminal-text.ts';

/** Asks the user in the terminal. */
export interface Asker {
  /** Returns one line, trimmed. */
  ask(question: string): Promise<string>;
  /** Prints lines before a question. */
  show(lines: readonly string[]): void;
  close(): void;
}

/** Null if nobody can be asked: there's no terminal, or the user wants JSON. */
export function askerOf(context: CommandContext): Asker | null {
  const { stdin, stderr } = process;
  const isThere = stdin.isTTY && stderr.isTTY && !switchOption(context, 'json');
  return isThere ? new LineAsker(stdin, stderr, context.signal) : null;
}

/**
 * Reads whole lines. The terminal does the editing, so Ctrl-C stays the usual signal. Questions go to standard error,
 * because standard output is for the answer.
 */
export class LineAsker implements Asker {
  readonly #input: NodeJS.ReadableStream;
  readonly #output: Sink;
  readonly #signal: AbortSignal;
  #reader: { readonly lines: AsyncIterator<string>; readonly face: Interface } | null = null;

  constructor(input: NodeJS.ReadableStream, output: Sink, signal: AbortSignal) {
    this.#input = input;
    this.#output = output;
    this.#signal = signal;
  }

  async ask(question: string): Promise<string> {
    this.#signal.throwIfAborted();
    this.#output.write(`${safeLine(question)} `);
    const { lines } = (this.#reader ??= this.#open());
    const next = await lines.next();
    // If the input ended without a line, the cursor is still behind the question.
    if (next.done) this.#output.write('\n');
    this.#signal.throwIfAborted();
    if (next.done)
      throw usageError("You didn't answer.", 'Every answer has a flag too: --help shows it.');
    return next.value.trim();
  }

  show(lines: readonly string[]): void {
    for (const line of lines) this.#output.write(`${safeLine(line)}\n`);
  }

  close(): void {
    this.#reader?.face.close();
    this.#reader = null;
  }

  #open() {
    const face = createInterface({ input: this.#input, terminal: false, signal: this.#signal });
    return { face, lines: face[Symbol.asyncIterator]() };
  }
}
