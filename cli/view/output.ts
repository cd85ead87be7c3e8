import { isObject } from '../../shared/lib/guards.ts';
import type { CliError } from '../errors.ts';
import { jsonLines } from './json.ts';
import { fitRows, rowsOf } from './rows.ts';
import { PagePrinter, type Pages } from './pages.ts';
import type { Layout, Look } from './table.ts';
import { cutToWidth, plainText, safeJson, safeLine, safeText, wrapNote } from './terminal-text.ts';
import { typedAnswer, typedHint, typedNames } from './typed-names.ts';
import { answerLines } from './view.ts';

/** How an answer is shown on a terminal. */
export interface View {
  /** The table columns for `items`. */
  readonly columns?: readonly string[];
  /** More fields that hold anybody's JSON and are shown as JSON. */
  readonly json?: readonly string[];
  /** Stands for an answer without anything in it. */
  readonly nothing?: string;
  /** Replaces the table and fields. Must be safe for a terminal. */
  readonly lines?: (look: Look) => readonly string[];
}

/** The only place that prints. Standard output holds nothing but the answer. */
export interface Output {
  /** Whether answers are JSON: the user asked for it, or standard output isn't a terminal. */
  readonly json: boolean;
  /** Whether standard output is a terminal. */
  readonly terminal: boolean;
  /** Prints the answer: JSON, or a readable view with a table for `items`. */
  answer(value: unknown, view?: View): void;
  /** Prints a list page by page: one table, or one JSON document. */
  pages(): Pages;
  /** Whether standard output has taken all that was printed. */
  isPrinted(): Promise<boolean>;
  /** Prints one line of text to standard output, made safe for a terminal. */
  line(text: string): void;
  /** Prints lines that are safe for a terminal. */
  lines(draw: (look: Look) => readonly string[]): void;
  /** Prints bytes to standard output unchanged, but made safe on a terminal. */
  bytes(chunk: Uint8Array): void;
  /** Like `line`, for svc's own text: suggests commands as this program was started, and breaks it between words. */
  advise(text: string): void;
  /** Prints one line to standard error. */
  note(text: string): void;
  /** Prints one line to standard error even with --quiet, for what the user must see. */
  tell(text: string): void;
  /**
   * Shows a spinner on standard error during long work, in place of one already turning. Without a terminal it's
   * silent, or notes `elsewhere` once.
   */
  spin<T>(text: string | (() => string), work: Promise<T>, elsewhere?: string): Promise<T>;
  /**
   * On a terminal, prints `kept` permanently and `live` below it, which the next call replaces. All lines must be safe.
   */
  redraw(draw: (look: Look) => ScreenLines): void;
}

/** The lines of a redraw. */
export interface ScreenLines {
  readonly kept: readonly string[];
  /** What the screen has no room for is cut off at the end. */
  readonly live: readonly string[];
}

/** Where output goes: a process's stream, or a test's. */
export interface Sink {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /** Calls `done` with an error if this text, or an earlier one, couldn't be written. */
  write(data: string | Uint8Array, done?: (error?: Error | null) => void): unknown;
}

export interface OutputOptions {
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Whether `--json` was given. */
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  /** False on a terminal that can't erase what it shows, as with TERM=dumb. */
  readonly animated?: boolean;
  readonly now?: () => number;
  /** Writes the commands in svc's own text as this program was started. */
  readonly typed?: (text: string) => string;
}

const CLEAR_LINE = '\r\u001b[K';
const ERASE_ABOVE = '\u001b[A\u001b[2K';
/** Used if a terminal reports its size as 0. */
const COLUMNS_DEFAULT = 80;
const ROWS_DEFAULT = 24;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
const WIDEST_TEXT = 96;

/** A process's output. JSON is one line for `jq` and `while read`, but indented on a terminal. */
export class TerminalOutput implements Output {
  readonly json: boolean;
  readonly terminal: boolean;
  readonly #options: OutputOptions;
  readonly #decoder = new TextDecoder();
  /** The running spinners; only the last one is drawn. */
  readonly #spinners: symbol[] = [];
  #live: readonly string[] = [];
  #appended = '';
  #problem = (path: string, message: string) => `${path}: ${message}`;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.terminal = options.stdout.isTTY === true;
    this.json = options.json || !this.terminal;
  }

  answer(value: unknown, view: View = {}): void {
    if (this.json) {
      const told = typedAnswer(value);
      if (this.terminal) this.lines((look) => jsonLines(told, look));
      else this.#options.stdout.write(`${safeJson(told, 0)}\n`);
      return;
    }
    this.lines((look) => answerLines(value, view, look));
    const cursor = isObject(value) ? value['next_cursor'] : null;
    if (cursor !== null && cursor !== undefined) this.note(`More: --cursor ${plainText(cursor)}`);
  }

  pages(): Pages {
    const { json, terminal } = this;
    const lookWith = (layout: Layout): Look => ({ ...this.#look(), layout });
    const write = (text: string): void => void this.#options.stdout.write(text);
    return new PagePrinter({
      json,
      terminal,
      told: typedAnswer,
      write,
      draw: (draw) => write(draw(this.#look()).join('\n')),
      readable: (answer, view, layout) =>
        this.lines(() => answerLines(answer, view, lookWith(layout))),
      note: (text) => this.note(text),
    });
  }

  isPrinted(): Promise<boolean> {
    return new Promise((done) => {
      this.#options.stdout.write('', (error) => done(!error));
    });
  }

  lines(draw: (look: Look) => readonly string[]): void {
    this.#options.stdout.write(`${draw(this.#look()).join('\n')}\n`);
  }

  line(text: string): void {
    this.#options.stdout.write(`${safeText(text)}\n`);
  }

  advise(text: string): void {
    const { columns } = this.#look();
    const typed = this.#typed(text);
    for (const line of this.terminal ? wrapNote(safeLine(typed), columns) : [typed])
      this.line(line);
  }

  note(text: string): void {
    if (!this.#options.quiet) this.tell(text);
  }

  tell(text: string): void {
    this.#explain(safeLine(this.#typed(text)));
  }

  /** Prints svc's own text, with bold headings: help. */
  page(text: string): void {
    const shown = text.replace(/^[A-Z][^\n]*:$/gm, (heading) => this.#style('1', heading));
    const lines = /^(?: {2}svc |See also: |More: ).*$/gm;
    this.#options.stdout.write(shown.replace(lines, (line) => this.#typed(line)));
  }

  bytes(chunk: Uint8Array): void {
    const { stdout } = this.#options;
    stdout.write(stdout.isTTY ? safeText(this.#decoder.decode(chunk, { stream: true })) : chunk);
  }

  /** Sets how problems with fields are described. */
  tellProblems(problem: (path: string, message: string) => string): void {
    this.#problem = problem;
  }

  /** Prints an error to standard error: `CODE: message`, the fields and the next step; or the error body as JSON. */
  failure(error: CliError): void {
    if (this.#options.json) {
      this.#complain(safeJson(bodyOf(error), 0));
      return;
    }
    const [code, message] = [safeLine(error.code), safeLine(error.message)];
    this.#complain(`${this.#style('31', code)}: ${message}`);
    for (const line of this.#problems(error.details)) this.#complain(`  ${line}`);
    const hint = typedHint(error);
    if (hint === null) return;
    // A terminal that doesn't know its width says 0.
    const columns = Math.min(this.#options.stderr.columns || WIDEST_TEXT, WIDEST_TEXT);
    for (const line of wrapNote(safeLine(this.#typed(hint)), columns)) this.#complain(line);
  }

  /** Prints the stack trace of our own bug. */
  trace(stack: string): void {
    this.#options.stderr.write(`${safeText(stack)}\n`);
  }

  redraw(draw: (look: Look) => ScreenLines): void {
    const look = this.#look();
    const { kept, live } = draw(look);
    if (!this.#isAnimated) return this.#append([...kept, ...live]);
    const erase = this.#takeLive();
    // The cursor needs the last line.
    const room = Math.max(2, (this.#options.stdout.rows || ROWS_DEFAULT) - 1);
    this.#live = fitRows(live, room, look.columns);
    const lines = [...kept, ...this.#live];
    // One write, so that nothing flickers.
    this.#options.stdout.write(erase + lines.map((line) => `${line}\n`).join(''));
  }

  get #isAnimated(): boolean {
    return this.#options.animated !== false;
  }

  /** Prints the lines unless they are those of the last time, because they can't be replaced. */
  #append(lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('');
    if (text !== this.#appended) this.#options.stdout.write(text);
    this.#appended = text;
  }

  /** Returns the sequence that erases the live lines, which a narrower terminal has wrapped by now. */
  #takeLive(): string {
    const rows = rowsOf(this.#live, this.#look().columns);
    this.#live = [];
    // Row by row, because some terminals keep a screen that is erased as a whole.
    return rows > 0 ? `\r\u001b[J${ERASE_ABOVE.repeat(rows)}` : '';
  }

  #look(): Look {
    const { stdout, now = Date.now } = this.#options;
    return {
      columns: stdout.columns || COLUMNS_DEFAULT,
      now: now(),
      bold: (text) => this.#style('1', text),
      faint: (text) => this.#style('2', text),
      green: (text) => this.#style('32', text),
      red: (text) => this.#style('31', text),
      yellow: (text) => this.#style('33', text),
      blue: (text) => this.#style('1;34', text),
      typed: (text) => this.#typed(text),
    };
  }

  #typed(text: string): string {
    return this.#options.typed?.(text) ?? text;
  }

  async spin<T>(text: string | (() => string), work: Promise<T>, elsewhere?: string): Promise<T> {
    const { stderr, quiet } = this.#options;
    if (quiet || stderr.isTTY !== true || !this.#isAnimated) {
      if (elsewhere !== undefined) this.note(elsewhere);
      return work;
    }
    const self = Symbol('spinner');
    const started = Date.now();
    let frame = 0;
    const clear = () => stderr.write(CLEAR_LINE);
    const timer = setInterval(() => {
      if (this.#spinners.at(-1) !== self) return;
      frame = (frame + 1) % FRAMES.length;
      const shown = safeLine(typeof text === 'string' ? text : text());
      const elapsed = elapsedText(Date.now() - started);
      // A wrapped line couldn't be erased.
      const room = (stderr.columns || COLUMNS_DEFAULT) - elapsed.length - 4;
      stderr.write(`${CLEAR_LINE}${FRAMES[frame] ?? ''} ${cutToWidth(shown, room)} ${elapsed}`);
    }, FRAME_MS);
    this.#spinners.push(self);
    // Clears the line if a second Ctrl-C ends the process while the spinner turns.
    process.once('exit', clear);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      process.off('exit', clear);
      this.#spinners.splice(this.#spinners.indexOf(self), 1);
      clear();
    }
  }

  #problems(details: CliError['details']): string[] {
    const fields = details?.['fields'];
    if (Array.isArray(fields)) {
      return fields
        .filter(isObject)
        .map(({ path, message }) => this.#problem(plainLine(path), plainLine(message)));
    }
    return Object.entries(details ?? {}).map(
      ([name, value]) => `${safeLine(name)}: ${plainLine(value)}`,
    );
  }

  /** Prints a text that a terminal would break inside words. */
  #explain(text: string): void {
    const { isTTY, columns = 0 } = this.#options.stderr;
    const lines = isTTY && columns > 0 ? wrapNote(text, columns) : [text];
    for (const line of lines) this.#complain(line);
  }

  #complain(line: string): void {
    if (this.#live.length > 0) this.#options.stdout.write(this.#takeLive());
    this.#options.stderr.write(`${this.#spinners.length > 0 ? CLEAR_LINE : ''}${line}\n`);
  }

  #style(code: string, text: string): string {
    return this.#options.color ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

/** The error body; the service words its hint for API callers. */
function bodyOf(error: CliError): unknown {
  const { error: body } = error.body();
  const { hint } = error;
  return { error: { ...body, hint: hint !== null && error.status ? typedNames(hint) : hint } };
}

/** `42s`, `3m07s`, `2h05m` */
function elapsedText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const [minutes, more] = [Math.floor(seconds / 60), String(seconds % 60)];
  if (minutes < 60) return `${minutes}m${more.padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

function plainLine(value: unknown): string {
  return safeLine(plainText(value));
}

/** Whether the terminal only appends text. */
export function isDumb(env: NodeJS.ProcessEnv): boolean {
  return env['TERM'] === 'dumb';
}

/** Colors are on if the terminal shows them and neither NO_COLOR nor `--no-color` is set. */
export function wantsColor(stdout: Sink, env: NodeJS.ProcessEnv, refused: boolean): boolean {
  const forbidden = refused || (env['NO_COLOR'] ?? '') !== '' || isDumb(env);
  return stdout.isTTY === true && !forbidden;
}
