import { Resolver } from 'node:dns/promises';
import { setTimeout } from 'node:timers/promises';

const TRIES = 2;
/** How long one attempt at a question may take, and how long all answers for one mail may take together. */
const PATIENCE = { tryMs: 5000, mailMs: 15_000 };
/**
 * The more mails waited in vain within this time, the shorter the next one waits, down to a minimum share: anyone can sign
 * with names that get no answer, and other mails wait behind them.
 */
const IN_VAIN_MS = 60_000;
const PATIENCE_MIN_SHARE = 0.1;
const FOUND_MS = 60_000;
/** A failed question is asked again soon, but not for each mail of a backlog. */
const FAILED_MS = 10_000;
const ANSWERS_MAX = 500;

/** Resolves with the strings of each TXT record of a name. Rejects with the codes of `node:dns`. */
export type TxtResolver = (name: string, type: string) => Promise<string[][]>;

interface Answer {
  readonly texts: Promise<string[][]>;
  until: number;
}

/** How it tells the time and waits, in milliseconds. */
interface Time {
  readonly now: () => number;
  /** Rejects if aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const TIME: Time = {
  now: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
};

/** Asks for TXT records, and caches the answers for a while. */
export class TxtRecords {
  readonly #resolver: Resolver;
  readonly #mailMs: number;
  readonly #answers = new Map<string, Answer>();
  /** When mails waited in vain. */
  #inVain: number[] = [];

  readonly #time: Time;

  /** `servers` as `host:port`; the system's own if empty. `patience` and `time` are for tests. */
  constructor(servers: readonly string[], patience = PATIENCE, time = TIME) {
    this.#time = time;
    this.#resolver = new Resolver({ timeout: patience.tryMs, tries: TRIES });
    if (servers.length > 0) this.#resolver.setServers(servers);
    this.#mailMs = patience.mailMs;
  }

  /** A resolver for one mail; the caller must call `end`. It rejects with ETIMEOUT when the mail's time is over. */
  forOneMail(): { readonly resolver: TxtResolver; readonly end: () => void } {
    const ended = new AbortController();
    const startedAt = this.#time.now();
    const timeoutMs = this.#timeoutMs(startedAt);
    const deadline = this.#time.sleep(timeoutMs, ended.signal).then(() => {
      throw Object.assign(new Error('The DNS took too long.'), { code: 'ETIMEOUT' });
    });
    // It may reject when nobody is waiting for it.
    deadline.catch(() => {});
    return {
      resolver: (name) => Promise.race([deadline, this.#texts(name.toLowerCase())]),
      end: () => {
        ended.abort();
        const now = this.#time.now();
        const longMs = Math.min(timeoutMs, this.#mailMs / 2) * 0.9;
        if (now - startedAt >= longMs) this.#inVain.push(now);
      },
    };
  }

  #timeoutMs(now: number): number {
    this.#inVain = this.#inVain.filter((at) => now - at < IN_VAIN_MS);
    return this.#mailMs * Math.max(PATIENCE_MIN_SHARE, 1 / (1 + this.#inVain.length));
  }

  #texts(name: string): Promise<string[][]> {
    const now = this.#time.now();
    const known = this.#answers.get(name);
    if (known !== undefined && known.until > now) return known.texts;
    const answer: Answer = { texts: this.#ask(name), until: now + FOUND_MS };
    answer.texts.catch((error: unknown) => {
      if (!isAbsence(error)) answer.until = this.#time.now() + FAILED_MS;
    });
    this.#answers.delete(name);
    this.#answers.set(name, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) this.#answers.delete(oldest);
    return answer.texts;
  }

  async #ask(name: string): Promise<string[][]> {
    // mailauth asks for this name if a domain is a public suffix, which has no organizational domain.
    if (name === '_dmarc.null') throw noSuchName();
    try {
      return await this.#resolver.resolveTxt(name);
    } catch (error) {
      // A name that DNS can't express doesn't exist.
      throw codeOf(error) === 'EBADNAME' ? noSuchName() : error;
    }
  }
}

function isAbsence(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}

function noSuchName(): Error {
  return Object.assign(new Error('There is no such name.'), { code: 'ENOTFOUND' });
}
