/** Milliseconds that this process has had a core: unlike the clock, they don't grow while other programs have it. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const LOOK_MS = 5;

/** How long the event loop was held at most, by `processorMs`. */
export class LongestTurn {
  #last = processorMs();
  #longest = 0;
  readonly #timer = setInterval(() => this.#look(), LOOK_MS);

  #look(): void {
    const now = processorMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }

  /** Since it was asked before. */
  take(): number {
    this.#look();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
