import { SourceError } from './source-error.ts';

/** Reads no longer wait for a gateway that has been silent for this long. */
const QUIET_MS = 200;
/** If a try gets no answer for this long, another one starts beside it over its own connection. */
const BESIDE_MS = 500;
/** How long each of these lasts. The first one stays, because a slow gateway may yet answer it. */
const BESIDE_LASTS_MS = 5_000;
/** A gateway that is silent for this long is away. A line that delays each way by two seconds isn't. */
const LOST_MS = 5_000;

export interface LineOptions<T> {
  /** Asks the gateway over a new connection. Rejects with `SourceError`, or with the abort reason. */
  readonly ask: (signal: AbortSignal) => Promise<T>;
  /** The gateway has been silent for `QUIET_MS`. */
  readonly onQuiet: () => void;
  /** The gateway has been silent for `LOST_MS`; called again after each of them. */
  readonly onLost: () => void;
  /** `wasSilent`: a later try got this answer, so connections that are older may be dead. */
  readonly onAnswer: (answer: T, wasSilent: boolean) => void;
}

/**
 * Finds out if the gateway is there: one question for everybody who wants to know. A connection that stays silent may be
 * dead although the line works again, so another try starts beside each one that gets no answer.
 */
export class Line<T> {
  readonly #options: LineOptions<T>;
  #round: Round<T> | null = null;

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

  /** Tries once more at once: there is a reason to think that the gateway is back. */
  hurry(): void {
    this.#round?.tryAgain();
  }

  close(): void {
    this.#round?.end();
  }

  #begin(): Round<T> {
    const round = new Round(this.#options);
    const done = (): void => {
      this.#round = null;
    };
    round.answer.finally(done).catch(() => undefined);
    return round;
  }
}

/** One question, from its first try to its first answer or failure. */
class Round<T> {
  readonly answer: Promise<T>;
  readonly #options: LineOptions<T>;
  readonly #over = new AbortController();
  readonly #timers: readonly NodeJS.Timeout[];
  #resolve: (answer: T) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #tries = 0;

  constructor(options: LineOptions<T>) {
    this.#options = options;
    this.answer = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timers = [
      setTimeout(options.onQuiet, QUIET_MS),
      setInterval(options.onLost, LOST_MS),
      setInterval(() => this.tryAgain(), BESIDE_MS),
    ];
    this.tryAgain();
  }

  tryAgain(): void {
    if (this.#over.signal.aborted) return;
    const wasSilent = this.#tries > 0;
    this.#tries += 1;
    void this.#try(wasSilent);
  }

  async #try(wasSilent: boolean): Promise<void> {
    const late = wasSilent ? AbortSignal.timeout(BESIDE_LASTS_MS) : null;
    const signal = late ? AbortSignal.any([this.#over.signal, late]) : this.#over.signal;
    try {
      const answer = await this.#options.ask(signal);
      if (!this.#ends()) return;
      this.#resolve(answer);
      this.#options.onAnswer(answer, wasSilent);
    } catch (error) {
      if (!late?.aborted && this.#ends()) this.#reject(error);
    }
  }

  end(): void {
    if (this.#ends()) this.#reject(new SourceError('unavailable', 'Nobody asks any more.'));
  }

  /** Ends it. False if it has ended before. */
  #ends(): boolean {
    if (this.#over.signal.aborted) return false;
    this.#over.abort();
    for (const timer of this.#timers) clearTimeout(timer);
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
