import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 2;
/** How long a server may take for an answer, and how long all answers for one mail may take together. */
const PATIENCE = { tryMs: 5000, mailMs: 15_000 };
/**
 * The more mails waited in vain within this time, the shorter the next one waits, down to a share of the whole: anybody may
 * sign with names that nobody answers for, and other mails wait behind that.
 */
const IN_VAIN_MS = 60_000;
const PATIENCE_MIN_SHARE = 0.1;
const FOUND_MS = 60_000;
/** What failed is asked for again soon, but not for each mail of a backlog. */
const FAILED_MS = 10_000;
const ANSWERS_MAX = 500;

/** The strings of each TXT record of a name. Rejects with the codes of `node:dns`. */
export type TxtResolver = (name: string, type: string) => Promise<string[][]>;

interface Answer {
  readonly texts: Promise<string[][]>;
  until: number;
}

/** Asks for TXT records, and keeps the answers for a while. */
export class TxtRecords {
  readonly #resolver: Resolver;
  readonly #mailMs: number;
  readonly #answers = new Map<string, Answer>();
  /** When mails waited in vain. */
  #inVain: number[] = [];

  /** `servers` as `host:port`; the system's own when there are none. `patience` is there for tests. */
  constructor(servers: readonly string[], patience = PATIENCE) {
    this.#resolver = new Resolver({ timeout: patience.tryMs, tries: TRIES });
    if (servers.length > 0) this.#resolver.setServers(servers);
    this.#mailMs = patience.mailMs;
  }

  /** What is asked for one mail, and is to be ended: what is missing after a while is a timeout. */
  forOneMail(): { readonly resolver: TxtResolver; readonly end: () => void } {
    const ended = new AbortController();
    const startedAt = performance.now();
    const timeoutMs = this.#timeoutMs(startedAt);
    const deadline = sleep(timeoutMs, undefined, { signal: ended.signal }).then(() => {
      throw Object.assign(new Error('The DNS took too long.'), { code: 'ETIMEOUT' });
    });
    // Nobody may be waiting for it when it comes.
    deadline.catch(() => {});
    return {
      resolver: (name) => Promise.race([deadline, this.#texts(name.toLowerCase())]),
      end: () => {
        ended.abort();
        const now = performance.now();
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
    const now = performance.now();
    const known = this.#answers.get(name);
    if (known !== undefined && known.until > now) return known.texts;
    const answer: Answer = { texts: this.#ask(name), until: now + FOUND_MS };
    answer.texts.catch((error: unknown) => {
      if (!isAbsence(error)) answer.until = performance.now() + FAILED_MS;
    });
    this.#answers.delete(name);
    this.#answers.set(name, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) this.#answers.delete(oldest);
    return answer.texts;
  }

  async #ask(name: string): Promise<string[][]> {
    // mailauth asks for the organization of a public suffix by this name, as that has none.
    if (name === '_dmarc.null') throw noSuchName();
    try {
      return await this.#resolver.resolveTxt(name);
    } catch (error) {
      // A name that cannot be asked for is a name that nobody has.
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
