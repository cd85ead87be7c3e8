import { CliError, usageError } from '../errors.ts';
import type { Output } from '../view/output.ts';
import { shellWord } from '../view/terminal-text.ts';
import { typedHint } from '../view/typed-names.ts';
import { retried } from '../../clients/typescript/core/retried.ts';
import { failureText } from './failure-text.ts';
import {
  askedMs,
  failedForNow,
  mayHaveArrived,
  sentence,
  type SvcError,
} from '../../clients/typescript/core/errors.ts';

/** The server's hint that a call may have taken effect. */
const SAME_KEY = /[Rr]epeat it with the same idempotency key\.?/;

export interface RetryDeps {
  /** The key that the user gave. */
  readonly key: string | undefined;
  /** How long to retry a call, counted from its first failure; 0 means not at all. */
  readonly retryMs: number;
  readonly output: Pick<Output, 'spin' | 'tell'>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether calls go straight to a gateway. */
  readonly hasGateway: () => boolean;
}

/** The tries of a command that writes, all under one idempotency key. */
export class Tries {
  readonly #options: RetryDeps;
  #key: string | undefined;
  #isTyped: boolean;
  /** A write has no answer yet, or a call is being retried. */
  #isOpen = false;
  /** One of the tries may have arrived. */
  #mayBeDone = false;
  /** How many calls are being retried; only the first one says so. */
  #trying = 0;

  constructor(options: RetryDeps) {
    this.#options = options;
    this.#key = options.key;
    this.#isTyped = options.key !== undefined;
  }

  /** Takes the key from a typed header. */
  adopt(key: string): void {
    if (this.#isTyped) throw usageError('--idempotency-key and --header both name a key.');
    this.#key = key;
    this.#isTyped = true;
  }

  get key(): string {
    this.#key ??= crypto.randomUUID();
    return this.#key;
  }

  /** The user gave the key, so an earlier run may have used it. */
  get mayBeRepeat(): boolean {
    return this.#isTyped;
  }

  /** Whether something may have been done already. */
  get mayBeDone(): boolean {
    return this.#mayBeDone;
  }

  /** Runs a write; it stays open until it's answered. */
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

  /**
   * Runs the work, and retries while it fails for now and time is left. `leftMs` is that time, null on the first try.
   */
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

  #again<T>(work: (leftMs: number | null) => Promise<T>, first: SvcError): Promise<T> {
    const { retryMs, output, signal, hasGateway } = this.#options;
    const endsAt = performance.now() + retryMs;
    const leftMs = (): number => Math.max(0, endsAt - performance.now());
    let failure = first;
    const isLast = (failed: SvcError): boolean => {
      failure = failed;
      return leftMs() === 0 || isTooLong(failed, leftMs());
    };
    const answer = retried(() => work(leftMs()), { signal, isLast, leftMs, after: first });
    const text = (): string =>
      `${failureText(failure, hasGateway())}; trying again for ${timeText(leftMs())} …`;
    return output.spin(text, answer, this.#trying === 1 ? text() : undefined);
  }

  /** Adds the key to repeat the command with, if that helps. */
  told(error: unknown): unknown {
    const repeat = this.repeatAfter(error);
    if (repeat === null || !(error instanceof CliError)) return error;
    const { code, message, details, exit } = error;
    const known = (typedHint(error) ?? '').replace(SAME_KEY, '').replace(/^Try again\.$/, '');
    const hint = [sentence(known.replace(/:\s*$/, '')), repeat].filter(Boolean).join(' ');
    return new CliError({ code, message, hint, details, exit });
  }

  /** How to repeat a command that failed for now; null if a new key is just as good. */
  repeatAfter(error: unknown): string | null {
    if (!failedForNow(error)) return null;
    const isAsked = this.#isTyped || this.#options.retryMs > 0;
    return isAsked || (this.#isOpen && this.#mayBeDone)
      ? `To repeat it safely, add: ${this.#flag}`
      : null;
  }

  /** Prints the key after the user interrupts a write that has no answer yet. */
  tellOpen(
    lead = `${this.#mayBeDone ? 'It may have worked' : 'Nothing changed'}. To repeat it safely, add:`,
  ) {
    if (this.#isOpen) this.#options.output.tell(`${lead} ${this.#flag}`);
    this.#isOpen = false;
  }

  /** One word, so that no line breaks inside it. */
  get #flag(): string {
    return `--idempotency-key=${shellWord(this.key)}`;
  }
}

/** Whether the server asks to wait longer than the time left. */
function isTooLong(error: SvcError, leftMs: number): boolean {
  return error.code !== 'UNAVAILABLE' && askedMs(error) > leftMs;
}

function timeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
