import { setTimeout as sleep } from 'node:timers/promises';

const LANES = 10;

interface OverwriterOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly files: number;
  /** How often a file is overwritten, in all. */
  readonly perSecond: number;
}

/** Overwrites the files of a project again and again, each with its name and a number, so that blobs come and go. */
export class Overwriter {
  readonly #options: OverwriterOptions;
  readonly #over = new AbortController();
  #lanes: Promise<unknown> = Promise.resolve();
  /** How often each file was written, and the newest of these that was acknowledged. */
  readonly #begun = new Map<string, number>();
  readonly #acknowledged = new Map<string, number>();
  written = 0;

  constructor(options: OverwriterOptions) {
    this.#options = options;
  }

  /** Writes each file once. */
  async fill(): Promise<void> {
    const names = this.#names();
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        for (let n = lane; n < names.length; n += LANES) await this.#write(names[n] ?? '');
      }),
    );
  }

  start(): void {
    const names = this.#names();
    const everyMs = (1000 * LANES) / this.#options.perSecond;
    const write = async (lane: number): Promise<void> => {
      for (let n = lane; !this.#over.signal.aborted; n += LANES) {
        const pause = sleep(everyMs);
        await this.#write(names[n % names.length] ?? '');
        await pause;
      }
    };
    this.#lanes = Promise.all(Array.from({ length: LANES }, (_, lane) => write(lane)));
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#lanes;
  }

  /** The acknowledged number of each file, as of now. */
  acknowledged(): ReadonlyMap<string, number> {
    return new Map(this.#acknowledged);
  }

  /** Whether this is what was written to the file the nth time, at the earliest `from`. */
  isContent(name: string, text: string, from: number): boolean {
    const [of, n] = text.split(' ', 2);
    const number = Number(n);
    const isKnown = number >= from && number <= (this.#begun.get(name) ?? 0);
    return of === name && isKnown && text === contentOf(name, number);
  }

  #names(): string[] {
    return Array.from({ length: this.#options.files }, (_, n) => `f-${n}`);
  }

  async #write(name: string): Promise<void> {
    const n = (this.#begun.get(name) ?? 0) + 1;
    this.#begun.set(name, n);
    const response = await fetch(`${this.#options.url}/v1/files/${name}`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${this.#options.apiKey}`,
        'content-type': 'application/octet-stream',
      },
      body: contentOf(name, n),
    });
    if (response.status !== 200) throw new Error(await response.text());
    await response.arrayBuffer();
    this.#acknowledged.set(name, n);
    this.written += 1;
  }
}

function contentOf(name: string, n: number): string {
  return `${name} ${n} ${'x'.repeat(200)}`;
}
