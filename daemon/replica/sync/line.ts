import { deadline } from '../../../shared/lib/deadline.ts';
import { SourceError } from './source-error.ts';

/** Reads no longer wait for a gateway that has been silent for this long. */
const QUIET_MS = 200;
/** An answer that takes longer is late. */
export const LATE_MS = 1_000;
/** If a try gets no answer for this long, a second one starts over a connection of its own while the first goes on. */
const BESIDE_MS = 500;
/**
 * Try this often for this long. After that, try less often, because a hanging gateway has to answer every try before
 * anything else.
 */
const EAGER_MS = 5_000;
/** After that: how often while somebody needs the gateway, and how often otherwise. */
const NEEDED_MS = 900;
const SELDOM_MS = 5_000;
/** How long each of these lasts. The first one stays, because a slow gateway may yet answer it. */
const BESIDE_LASTS_MS = 5_000;
/**
 * A gateway that is silent for this long counts as unreachable. A connection with two seconds of delay each way
 * doesn't.
 */
const LOST_MS = 5_000;

export interface LineOptions<T> {
  /** Asks the gateway over a new connection. Rejects with `SourceError`, or with the abort reason. */
  readonly ask: (signal: AbortSignal) => Promise<T>;
  /** The gateway has been silent for `QUIET_MS`. */
  readonly onQuiet: () => void;
  /** The gateway has been silent for `LATE_MS`. */
  readonly onLate: () => void;
  /** The gateway has been silent for `LOST_MS`; called again after each of them. */
  readonly onLost: () => void;
  readonly onAnswer: (answer: T, come: AnsweredTry) => void;
}

/** The try that got the answer. */
interface AnsweredTry {
  /** It's a later one, so connections that are older may be dead. */
  readonly wasSilent: boolean;
  readonly tookMs: number;
}

/**
 * Finds out if the gateway is there: one question for everybody who wants to know. A silent connection may be dead
 * although the network works again, so more tries start beside one that gets no answer.
 */
export class Line<T> {
  readonly #options: LineOptions<T>;
  #round: Round<T> | null = null;
  /** When the gateway fell silent; null if the last question was answered, or refused quickly. */
  #silentSince: number | null = null;

  constructor(options: LineOptions<T>) {
    this.#options = options;
  }

  /** True while a question is open. */
  get isAsking(): boolean {
    return this.#round !== null;
  }

  /** The first answer; joins the open question. Rejects with `SourceError`, or with the signal's reason. */
  async reach(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    this.#round ??= this.#begin();
    return unlessAborted(this.#round.answer, signal);
  }

  /** The same for a caller who waits for the gateway. */
  async insist(signal: AbortSignal): Promise<T> {
    const needing = setInterval(() => this.need(), NEEDED_MS);
    try {
      this.need();
      return await this.reach(signal);
    } finally {
      clearInterval(needing);
    }
  }

  /** Somebody needs the gateway. */
  need(): void {
    this.#round?.need();
  }

  /** Tries again right away, because the gateway is probably back. */
  hurry(): void {
    this.#round?.tryAgain();
  }

  close(): void {
    this.#round?.end();
  }

  #begin(): Round<T> {
    this.#silentSince ??= performance.now();
    const round = new Round(this.#options, this.#silentSince);
    void this.#end(round);
    return round;
  }

  /** When it has ended. */
  async #end(round: Round<T>): Promise<void> {
    const beganAt = performance.now();
    const isHeard = await round.answer.then(
      () => true,
      () => performance.now() - beganAt < LOST_MS,
    );
    this.#round = null;
    if (isHeard) this.#silentSince = null;
  }
}

/** One question, from its first try to its first answer or failure. */
class Round<T> {
  readonly answer: Promise<T>;
  readonly #options: LineOptions<T>;
  readonly #over = new AbortController();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #silentSince: number;
  #triedAt = 0;
  #next: NodeJS.Timeout | undefined;
  #resolve: (answer: T) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #tries = 0;

  /** `silentSince`: since when the gateway has been silent, counting earlier questions, in monotonic milliseconds. */
  constructor(options: LineOptions<T>, silentSince: number) {
    this.#options = options;
    this.#silentSince = silentSince;
    this.answer = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timers = [
      setTimeout(options.onQuiet, QUIET_MS),
      setTimeout(options.onLate, LATE_MS),
      setInterval(options.onLost, LOST_MS),
    ];
    this.tryAgain();
  }

  tryAgain(): void {
    if (this.#over.signal.aborted) return;
    const wasSilent = this.#tries > 0;
    this.#tries += 1;
    this.#triedAt = performance.now();
    const isEager = this.#triedAt - this.#silentSince < EAGER_MS;
    clearTimeout(this.#next);
    this.#next = setTimeout(() => this.tryAgain(), isEager ? BESIDE_MS : SELDOM_MS);
    void this.#try(wasSilent);
  }

  need(): void {
    if (performance.now() - this.#triedAt >= NEEDED_MS) this.tryAgain();
  }

  async #try(wasSilent: boolean): Promise<void> {
    const late = wasSilent ? deadline(BESIDE_LASTS_MS) : null;
    const signal = late ? AbortSignal.any([this.#over.signal, late]) : this.#over.signal;
    const startedAt = performance.now();
    try {
      const answer = await this.#options.ask(signal);
      if (!this.#ends()) return;
      this.#resolve(answer);
      this.#options.onAnswer(answer, { wasSilent, tookMs: performance.now() - startedAt });
    } catch (error) {
      if (!late?.aborted && this.#ends()) this.#reject(error);
    }
  }

  end(): void {
    if (this.#ends()) this.#reject(new SourceError('unavailable', 'Everyone has stopped waiting.'));
  }

  /** Ends it. False if it has ended before. */
  #ends(): boolean {
    if (this.#over.signal.aborted) return false;
    this.#over.abort();
    for (const timer of [...this.#timers, this.#next]) clearTimeout(timer);
    return true;
  }
}

function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    const done = (): void => signal.removeEventListener('abort', leave);
    answer.then(resolve, reject).finally(done);
  });
}
