/** Microseconds that this process has had a core: unlike the clock, they don't grow while other programs have it. */
function processorUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

const TIMES = 16;
const TRIES = 5;
/** What takes this little can't be compared: a tenth of a second, where work in quadratic time takes minutes. */
const NOTHING_US = 100_000;

/** What the work takes at best: a collection of garbage is in the measure, too. It's tried until it takes `enough`. */
function leastUs(work: () => void, enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < TRIES && least > enough; n += 1) {
    const before = processorUs();
    work();
    least = Math.min(least, processorUs() - before);
  }
  return least;
}

/**
 * Whether the work grows with its length and no faster: it's done with `length` (a number of characters or pieces), and
 * with a sixteenth of it, and the processor may take four times as much as in proportion. That leaves room for a busy
 * machine, and quadratic work takes sixteen times as much.
 */
export function growsInProportion(work: (length: number) => void, length: number): boolean {
  const part = leastUs(() => work(Math.ceil(length / TIMES)), 0);
  const most = Math.max(NOTHING_US, part * TIMES * 4);
  return leastUs(() => work(length), most) <= most;
}
