import type { Jq } from 'jq-wasm';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { safeText } from '../view/terminal-text.ts';
import type { Sink } from '../view/output.ts';

type Filter = (documents: string) => void;

/** jq's exit code for an expression it can't compile. */
const NOT_COMPILED = 3;

/** Compiling it takes half a second. */
let loading: Promise<Jq> | undefined;

async function load(): Promise<Jq> {
  const { loadJq } = await import('jq-wasm');
  return loadJq();
}

/** Standard output with --jq: prints what the expression makes of each line of JSON. */
export class JqSink implements Sink {
  /** The command prints JSON, as into a pipe. */
  readonly isTTY = false;
  readonly #stdout: Sink;
  readonly #decoder = new TextDecoder();
  #filter: Filter | null = null;
  #open: string[] = [];

  constructor(stdout: Sink) {
    this.#stdout = stdout;
  }

  /** Loads jq, and refuses a wrong expression before the command does anything. */
  async use(expression: string): Promise<void> {
    const jq = await (loading ??= load());
    // jq would read `-1` as a flag.
    const query = expression.startsWith('-') ? ` ${expression}` : expression;
    const checked = jq.raw('', query, []);
    if (checked.exitCode === NOT_COMPILED) throw usageError(`--jq: ${reasonIn(checked.stderr)}`);
    const onTerminal = this.#stdout.isTTY === true;
    const flags = onTerminal ? ['-r'] : ['-r', '-c'];
    this.#filter = (documents) => {
      const { stdout, stderr, exitCode } = jq.raw(documents, query, flags);
      if (stdout !== '') this.#stdout.write(`${onTerminal ? safeText(stdout) : stdout}\n`);
      if (exitCode !== 0) throw failed(reasonIn(stderr));
    };
  }

  write(data: string | Uint8Array, done?: (error?: Error | null) => void): void {
    if (this.#filter === null || data.length === 0) {
      this.#stdout.write(data, done);
      return;
    }
    const text = typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true });
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) this.#print(text.slice(0, end));
    if (end < text.length) this.#open.push(text.slice(end));
  }

  /** Prints a document without a final line feed. */
  end(): void {
    if (this.#open.length > 0) this.#print('');
  }

  #print(end: string): void {
    const documents = [...this.#open, end].join('');
    this.#open = [];
    this.#filter?.(documents);
  }
}

/** `jq: error: syntax error, unexpected end of file at <top-level>, line 1, column 3:` without the parts around. */
function reasonIn(stderr: string): string {
  const [line = ''] = stderr.split('\n');
  const reason = line.replace(/^jq: error(?: \([^)]*\))?: /, '').replace(/[:.]$/, '');
  return `${reason === '' ? 'jq failed' : reason}.`;
}

function failed(message: string): CliError {
  return new CliError({ code: 'JQ_FAILED', message, exit: EXIT.refused });
}
