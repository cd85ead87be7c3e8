import { sleep } from '../clients/typescript/core/clock.ts';
import { canBeSatOut, sentence } from '../clients/typescript/core/errors.ts';
import type { CommandContext } from './command.ts';
import { asCliError, CliError, usageError } from './errors.ts';
import { EXIT } from './exit.ts';
import { WATCH_OPTION } from './input/flags.ts';
import { secondsValue } from './input/times.ts';
import type { Output, Sink } from './view/output.ts';
import type { Look } from './view/table.ts';
import {
  cutToWidth,
  padToWidth,
  safeLine,
  shellWord,
  textWidth,
  wrapNote,
} from './view/terminal-text.ts';

/** A command that runs again and again. */
export interface WatchedCommand {
  readonly argv: readonly string[];
  readonly options: CommandContext['options'];
  /** The process's output. */
  readonly output: Output;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly signal: AbortSignal;
  /** Runs the command, which prints to these. */
  readonly once: (streams: { readonly stdout: Sink; readonly stderr: Sink }) => Promise<void>;
}

/** What the command printed, and how it failed. */
interface Round {
  readonly text: string;
  readonly notes: string;
  readonly failure: CliError | null;
}

/** `--watch`: on a terminal redraws the command's view at an interval; elsewhere prints its JSON when that changes. */
export async function watch(watched: WatchedCommand): Promise<number> {
  const { options, output, signal } = watched;
  const interval = intervalOf(options);
  const screen = output.json ? new ChangePrinter(watched) : new Screen(watched);
  for (let isFirst = true; ; isFirst = false) {
    const round = await play(watched);
    if (signal.aborted) break;
    const { failure } = round;
    // Whoever mistyped a name, or isn't signed in, should learn it at once.
    const ends = failure?.exit === EXIT.usage || (isFirst && !canBeSatOut(failure));
    if (failure && ends) {
      output.bytes(Buffer.from(round.text));
      watched.stderr.write(round.notes);
      throw failure;
    }
    screen.show(round);
    if (!(await sleep(interval * 1000, signal))) break;
  }
  return EXIT.interrupted;
}

function intervalOf(options: CommandContext['options']): number {
  if (options['all'] === true) {
    throw usageError("--watch and --all can't be used together.", 'Use --limit instead of --all.');
  }
  const seconds = secondsValue(textOf(options), '--watch');
  if (seconds >= 1) return seconds;
  throw usageError('--watch must be at least 1s.', 'For example: --watch 2s');
}

function textOf(options: CommandContext['options']): string {
  return String(options[WATCH_OPTION.flag]);
}

async function play({ once, output, stdout }: WatchedCommand): Promise<Round> {
  const [shown, notes] = [new TextSink(stdout, !output.json), new TextSink(stdout, false)];
  let failure: CliError | null = null;
  try {
    await once({ stdout: shown, stderr: notes });
  } catch (thrown) {
    const error = asCliError(thrown);
    if (!(error instanceof CliError)) throw error;
    failure = error;
  }
  return { text: shown.text, notes: notes.text, failure };
}

/** Keeps what a command prints. */
class TextSink implements Sink {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly #decoder = new TextDecoder();
  text = '';

  constructor({ columns }: Sink, isTTY: boolean) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(data: string | Uint8Array, done?: () => void): void {
    this.text += typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true });
    done?.();
  }
}

/** Prints what the command printed, unless it's the same as the last time. */
class ChangePrinter {
  readonly #to: WatchedCommand;
  #last: Round = { text: '', notes: '', failure: null };

  constructor(to: WatchedCommand) {
    this.#to = to;
  }

  show(round: Round): void {
    const { output, stderr } = this.#to;
    const { text, notes, failure } = round;
    const last = this.#last;
    if (notes !== last.notes) stderr.write(notes);
    if (failure && failure.message !== last.failure?.message) output.note(troubleText(failure));
    if (!failure && last.failure) output.note('It works again.');
    const isNew = text !== '' && text !== last.text;
    if (isNew) output.bytes(Buffer.from(text.endsWith('\n') ? text : `${text}\n`));
    this.#last = { ...round, text: isNew ? text : last.text };
  }
}

/** Redraws the view, below a line with the command, the interval and the time. */
class Screen {
  readonly #to: WatchedCommand;
  #view: readonly string[] = [];
  #viewedAt = '';

  constructor(to: WatchedCommand) {
    this.#to = to;
  }

  show({ text, notes, failure }: Round): void {
    this.#to.output.redraw((look) => {
      const time = new Date(look.now).toTimeString().slice(0, 8);
      if (text !== '' || !failure) {
        this.#view = linesOf(text + notes);
        this.#viewedAt = time;
      }
      const trouble = failure ? this.#troubleLines(failure, look) : [];
      return { kept: [], live: [this.#head(time, look), ...trouble, '', ...this.#view] };
    });
  }

  #troubleLines(failure: CliError, { columns, red }: Look): string[] {
    const since = this.#viewedAt === '' ? '' : ` Below: the answer of ${this.#viewedAt}.`;
    return wrapNote(safeLine(troubleText(failure) + since), columns).map(red);
  }

  /** `Every 5s: svc inbox list` and, at the right end, the time. */
  #head(time: string, { columns, faint }: Look): string {
    const { argv, options } = this.#to;
    const room = columns - textWidth(time) - 2;
    const left = safeLine(`Every ${textOf(options)}: svc ${commandText(argv)}`);
    return faint(`${padToWidth(cutToWidth(left, room), room)}  ${time}`);
  }
}

function linesOf(text: string): string[] {
  return text.trimEnd().replaceAll('\t', '  ').split('\n');
}

function troubleText({ code, message }: CliError): string {
  return `${code}: ${sentence(message)} Trying again.`;
}

/** The command line without `--watch`. */
function commandText(argv: readonly string[]): string {
  const at = argv.findIndex((word) => word === '--watch');
  return argv
    .filter((word, index) => {
      const isInterval = at >= 0 && index === at + 1 && /^\d/.test(word);
      return index !== at && !isInterval && !word.startsWith('--watch=');
    })
    .map(shellWord)
    .join(' ');
}
