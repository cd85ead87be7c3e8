import { createHash } from 'node:crypto';

/** Milliseconds that this process has had a core: unlike the clock, they don't grow while other programs have it. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const LOOK_MS = 5;
/** Less than this is no hold at all, however slow the machine. */
const SHORT_MS = 50;
const YARDSTICK = Buffer.alloc(32 * 1024 * 1024);

/** What a fixed piece of work takes just now: a few dozen milliseconds on an idle machine, more on a busy one. */
function yardstickMs(): number {
  const from = processorMs();
  createHash('sha256').update(YARDSTICK).digest();
  return processorMs() - from;
}

/** How long the event loop was held at most, as a multiple of how long it takes to hash 32 MiB. */
export class LongestTurn {
  #last = processorMs();
  #longest = 0;

  constructor() {
    setInterval(() => this.#look(), LOOK_MS);
  }

  #look(): void {
    const now = processorMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }

  /** Since it was asked before. */
  take(): number {
    this.#look();
    const turns = this.#longest < SHORT_MS ? 0 : this.#longest / yardstickMs();
    this.#last = processorMs();
    this.#longest = 0;
    return turns;
  }
}
