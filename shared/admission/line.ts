/** Lets one of each name go at a time; the others wait in the order in which they came. */
export class Lines {
  readonly #waitingMax: number;
  readonly #lines = new Map<string, (() => void)[]>();

  /** `waitingMax`: as many wait for one that goes. */
  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Resolves to a function that lets the next one go; null if too many wait already. Rejects if the signal aborts. */
  async enter(name: string, signal?: AbortSignal): Promise<(() => void) | null> {
    signal?.throwIfAborted();
    const line = this.#lines.get(name);
    if (!line) this.#lines.set(name, []);
    else if (line.length >= this.#waitingMax) return null;
    else await waitIn(line, signal);
    return () => this.#next(name);
  }

  #next(name: string): void {
    const next = this.#lines.get(name)?.shift();
    if (next) next();
    else this.#lines.delete(name);
  }
}

function waitIn(line: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      signal?.removeEventListener('abort', left);
      resolve();
    };
    const left = (): void => {
      line.splice(line.indexOf(go), 1);
      reject(signal?.reason as Error);
    };
    line.push(go);
    signal?.addEventListener('abort', left, { once: true });
  });
}
