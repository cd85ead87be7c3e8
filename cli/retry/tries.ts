import { CliError, LostAnswer, sentence, usageError } from '../errors.ts';
import type { Output } from '../view/output.ts';
import { typedHint } from '../view/typed-names.ts';
import { askedMs, Backoff } from '../work/backoff.ts';
import { failedForNow, failureText } from './passing.ts';

const LONGEST_PAUSE_MS = 10_000;
/** How the other side says that a call may have had its effect. */
const SAME_KEY = /[Rr]epeat it with the same idempotency key\.?/;

export interface RetryDeps {
  /** The key as it was typed. */
  readonly key: string | undefined;
  /** How long a call is tried again, counted from its first failure; 0 is not at all. */
  readonly retryMs: number;
  readonly output: Pick<Output, 'spin' | 'tell'>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether calls go straight to a gateway. */
  readonly hasGateway: () => boolean;
}

/** The tries of a command that writes: all of them under one idempotency key. */
export class Tries {
  readonly #options: RetryDeps;
  #key: string | undefined;
  #isTyped: boolean;
  /** A write was begun that has no answer, or a call is tried again. */
  #isOpen = false;
  /** One of its tries may have arrived. */
  #mayBeDone = false;
  /** How many calls are being tried again: the first of them says so. */
  #trying = 0;

  constructor(options: RetryDeps) {
    this.#options = options;
    this.#key = options.key;
    this.#isTyped = options.key !== undefined;
  }

  /** Takes a key that was typed as a header. */
  adopt(key: string): void {
    if (this.#isTyped) throw usageError('--idempotency-key and --header both name a key.');
    this.#key = key;
    this.#isTyped = true;
  }

  get key(): string {
    this.#key ??= crypto.randomUUID();
    return this.#key;
  }

  /** The key was typed, so an earlier run may have used it. */
  get mayBeRepeat(): boolean {
    return this.#isTyped;
  }

  /** Something may have been done so far. */
  get mayBeDone(): boolean {
    return this.#mayBeDone;
  }

  /** Runs a write; it stays open until it is answered. */
  async write<T>(work: (leftMs: number | null) => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    this.#isOpen = true;
    const noted = async (leftMs: number | null): Promise<T> => {
      try {
        return await work(leftMs);
      } catch (error) {
        this.#mayBeDone ||= signal.aborted || mayHaveArrived(error);
        throw error;
      }
    };
    try {
      const answer = await this.run(noted);
      this.#isOpen = false;
      this.#mayBeDone = true;
      return answer;
    } catch (error) {
      this.#isOpen = signal.aborted || failedForNow(error);
      throw error;
    }
  }

  /** Runs it, and again while it fails for now and there is time. `leftMs` is that time; null at the first try. */
  async run<T>(work: (leftMs: number | null) => Promise<T>): Promise<T> {
    try {
      return await work(null);
    } catch (error) {
      const { retryMs, signal } = this.#options;
      if (retryMs === 0 || signal.aborted || !failedForNow(error)) throw error;
      this.#isOpen = true;
      this.#trying += 1;
      const answer = await this.#again(work, error).finally(() => (this.#trying -= 1));
      this.#isOpen = false;
      return answer;
    }
  }

  #again<T>(work: (leftMs: number | null) => Promise<T>, first: CliError): Promise<T> {
    const { retryMs, output, signal, hasGateway } = this.#options;
    const endsAt = performance.now() + retryMs;
    const leftMs = (): number => Math.max(0, endsAt - performance.now());
    const backoff = new Backoff(LONGEST_PAUSE_MS);
    let failure = first;
    const loop = async (): Promise<T> => {
      for (;;) {
        if (leftMs() === 0 || isTooLong(failure, leftMs())) throw failure;
        await backoff.pause(failure, signal, leftMs());
        signal.throwIfAborted();
        try {
          return await work(leftMs());
        } catch (error) {
          if (signal.aborted || !failedForNow(error)) throw error;
          failure = error;
        }
      }
    };
    const text = (): string =>
      `${failureText(failure, hasGateway())}; trying again for ${timeText(leftMs())} …`;
    return output.spin(text, loop(), this.#trying === 1 ? text() : undefined);
  }

  /** The failure with the key to repeat the command with, where that is of use. */
  told(error: unknown): unknown {
    const repeat = this.repeatAfter(error);
    if (repeat === null || !(error instanceof CliError)) return error;
    const { code, message, details, exit } = error;
    const known = (typedHint(error) ?? '').replace(SAME_KEY, '').replace(/^Try again\.$/, '');
    const hint = [sentence(known.replace(/:\s*$/, '')), repeat].filter(Boolean).join(' ');
    return new CliError({ code, message, hint, details, exit });
  }

  /** How to repeat a command that failed for now; null where a new key does as well. */
  repeatAfter(error: unknown): string | null {
    if (!failedForNow(error)) return null;
    const isAsked = this.#isTyped || this.#options.retryMs > 0;
    return isAsked || (this.#isOpen && this.#mayBeDone)
      ? `To repeat it safely, add: ${this.#flag}`
      : null;
  }

  /** Tells the key to a person who interrupts a write before its answer came. */
  tellOpen(
    lead = `${this.#mayBeDone ? 'It may have worked' : 'Nothing changed'}. To repeat it safely, add:`,
  ) {
    if (this.#isOpen) this.#options.output.tell(`${lead} ${this.#flag}`);
    this.#isOpen = false;
  }

  /** In one word, so that no line ends in it. */
  get #flag(): string {
    return `--idempotency-key=${shellWord(this.key)}`;
  }
}

/** Whether it may have had its effect all the same. */
function mayHaveArrived(error: unknown): boolean {
  if (!failedForNow(error)) return false;
  const { code, hint } = error;
  const isVague = code.startsWith('HTTP_5') || code === 'IDEMPOTENCY_IN_PROGRESS';
  return isVague || error instanceof LostAnswer || /same idempotency key/.test(hint ?? '');
}

/** A limit that holds for longer than there is time. */
function isTooLong(error: CliError, leftMs: number): boolean {
  return error.code !== 'UNAVAILABLE' && askedMs(error) > leftMs;
}

function timeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

/** As a shell takes it for one word. */
function shellWord(text: string): string {
  return /^[\w.:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
