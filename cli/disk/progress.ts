import type { CommandContext } from '../command.ts';
import { isDumb, type Sink } from '../view/output.ts';
import { cutToWidth, safeLine, textWidth } from '../view/terminal-text.ts';
import { sizeText } from '../view/sizes.ts';

/** Counts transferred bytes. */
export interface Meter {
  add(bytes: number): void;
}

/** A transfer's progress display. */
export interface Progress extends Meter {
  /** Removes the line. */
  end(): void;
}

const CLEAR_LINE = '\r\u001b[K';
const FRAME_MS = 120;
const BAR_COLUMNS = 20;
const NARROWEST_BAR = 8;
/** The rate covers only these last seconds, to show the current speed. */
const RATE_WINDOW_MS = 5000;
const RATE_LEAST_MS = 500;

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

interface BarOptions {
  readonly sink: Sink;
  readonly label: string;
  /** Null if unknown. */
  readonly totalBytes: number | null;
  readonly now?: () => number;
}

/** One terminal line: how much was transferred, how fast, and the time left. */
export class ProgressBar implements Progress {
  readonly #options: BarOptions;
  readonly #samples: Sample[];
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #hasEnded = false;
  /** Clears the line if a second Ctrl-C ends the process. */
  readonly #clear = (): void => void this.#options.sink.write(CLEAR_LINE);

  constructor(options: BarOptions) {
    this.#options = options;
    this.#samples = [{ at: this.#now(), bytes: 0 }];
    this.#timer = setInterval(() => this.draw(), FRAME_MS);
    process.once('exit', this.#clear);
    this.draw();
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  draw(): void {
    const { sink, label, totalBytes } = this.#options;
    const line = progressLine({
      label,
      bytes: this.#bytes,
      totalBytes,
      bytesPerSecond: this.#rate(),
      columns: (sink.columns || 80) - 1,
    });
    sink.write(CLEAR_LINE + line);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#timer);
    process.off('exit', this.#clear);
    this.#clear();
  }

  #rate(): number | null {
    const at = this.#now();
    this.#samples.push({ at, bytes: this.#bytes });
    while ((this.#samples[1]?.at ?? at) < at - RATE_WINDOW_MS) this.#samples.shift();
    const [first = { at, bytes: 0 }] = this.#samples;
    const elapsed = at - first.at;
    return elapsed < RATE_LEAST_MS ? null : ((this.#bytes - first.bytes) * 1000) / elapsed;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

interface State {
  readonly label: string;
  readonly bytes: number;
  readonly totalBytes: number | null;
  /** Null while unknown. */
  readonly bytesPerSecond: number | null;
  readonly columns: number;
}

/** `report.pdf  ██████░░░░  62%  3.1 MB of 5 MB  1.2 MB/s  2s left`, at most `columns` wide. */
export function progressLine(state: State): string {
  const { bytes, totalBytes, bytesPerSecond: rate, columns } = state;
  const done = totalBytes === null ? null : Math.min(1, totalBytes === 0 ? 1 : bytes / totalBytes);
  const facts = [
    ...(done === null ? [] : [`${String(Math.floor(done * 100)).padStart(3)}%`]),
    totalBytes === null ? sizeText(bytes) : `${sizeText(bytes)} of ${sizeText(totalBytes)}`,
    ...(rate === null ? [] : [`${sizeText(Math.round(rate))}/s`]),
    ...(rate === null || totalBytes === null ? [] : leftText(totalBytes - bytes, rate)),
  ];
  const text = facts.join('  ');
  const label = cutToWidth(safeLine(state.label), Math.max(10, columns - text.length - 26));
  const room = columns - textWidth(label) - text.length - 4;
  const bar =
    done === null || room < NARROWEST_BAR ? [] : [barText(done, Math.min(room, BAR_COLUMNS))];
  return cutToWidth([label, ...bar, text].join('  '), columns);
}

/** `████░░░░` */
export function barText(share: number, columns: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * columns);
  return '█'.repeat(full) + '░'.repeat(columns - full);
}

function leftText(bytes: number, rate: number): string[] {
  if (bytes <= 0 || rate <= 0) return [];
  const seconds = Math.ceil(bytes / rate);
  if (seconds < 60) return [`${seconds}s left`];
  if (seconds < 3600) return [`${Math.floor(seconds / 60)}m ${seconds % 60}s left`];
  return [`${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m left`];
}

const SILENT: Progress = { add: () => undefined, end: () => undefined };

/** A progress bar on standard error, if that is a terminal that can erase a line, and --quiet isn't set. */
export function showProgress(
  { options, env }: Pick<CommandContext, 'options' | 'env'>,
  label: string,
  totalBytes: number | null,
): Progress {
  const { stderr } = process;
  if (!stderr.isTTY || isDumb(env) || options['quiet'] === true) return SILENT;
  return new ProgressBar({ sink: stderr, label, totalBytes });
}
