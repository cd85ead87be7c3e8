import type { Holder as Counted } from './budget.ts';

/** Whom a job counts for. */
export interface Lane {
  /** The jobs of callers that have proven who they are, or of everybody else. Each side gets half of the time. */
  readonly side: 'known' | 'strangers';
  /** The project of a known caller, the network address of a stranger. */
  readonly holder: string;
  /** Callers of one holder take turns, and the agents of one caller. */
  readonly caller: string;
  /** Its name for itself. */
  readonly agent: string;
  /** The holder, as budgets count it. */
  readonly counted: Counted;
}

export function laneOf(side: Lane['side'], holder: string, caller: string, agent = ''): Lane {
  const counted = side === 'known' ? { project: holder } : { address: holder };
  return { side, holder, caller, agent, counted };
}

/** A job in its lane. `isWaiting` is false once it was taken out. */
export interface QueueEntry<T> {
  readonly job: T;
  readonly lane: Lane;
  isWaiting: boolean;
}

/** Idle holders that are remembered for what they have used. */
const IDLE_MAX = 1024;

/**
 * Jobs that wait for the event loop. The next one comes from the side, and there from the holder, that has used the
 * least processor time; callers of one holder take turns, and so do agents that share a key. Nobody saves up time:
 * after a pause, a holder counts as having used as much as the one served last.
 */
export class FairQueue<T> {
  readonly #sides = { known: new Side<T>(), strangers: new Side<T>() };
  /** What the side that was served last had used. */
  #clock = 0;

  get isEmpty(): boolean {
    return this.#sides.known.isEmpty && this.#sides.strangers.isEmpty;
  }

  /** `begun`: the rest of a job that already has its place; it goes before the holder's other jobs. */
  push(lane: Lane, job: T, begun = false): QueueEntry<T> {
    const queued = { job, lane, isWaiting: true };
    const side = this.#sides[lane.side];
    if (side.isEmpty) side.used = Math.max(side.used, this.#clock);
    side.push(queued, begun);
    return queued;
  }

  /** The next job; `mayBegin` tells whether there's a place for it. Null if none may go. */
  shift(mayBegin: (queued: QueueEntry<T>) => boolean): QueueEntry<T> | null {
    const { known, strangers } = this.#sides;
    const order = known.used <= strangers.used ? [known, strangers] : [strangers, known];
    for (const side of order) {
      const queued = side.shift(mayBegin);
      if (queued) {
        this.#clock = side.used;
        return queued;
      }
      side.used = Math.max(side.used, this.#clock);
    }
    return null;
  }

  /** Counts the time that a job has used. */
  charge({ side, holder }: Lane, ms: number): void {
    this.#sides[side].charge(holder, ms);
  }
}

class Side<T> {
  used = 0;
  readonly #holders = new Map<string, Holder<T>>();
  readonly #waiting = new Set<Holder<T>>();
  /** What the holder that was served last had used. */
  #clock = 0;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  push(queued: QueueEntry<T>, begun: boolean): void {
    const holder = this.#holderOf(queued.lane.holder);
    if (!this.#waiting.has(holder)) {
      holder.used = Math.max(holder.used, this.#clock);
      this.#waiting.add(holder);
    }
    if (begun) holder.begun.push(queued);
    else holder.add(queued);
  }

  shift(mayBegin: (queued: QueueEntry<T>) => boolean): QueueEntry<T> | null {
    let least: Holder<T> | null = null;
    for (const holder of this.#waiting) {
      const next = holder.peek();
      if (!next) this.#waiting.delete(holder);
      else if (holder.begun.length === 0 && !mayBegin(next)) {
        holder.used = Math.max(holder.used, this.#clock);
      } else if (least === null || holder.used < least.used) least = holder;
    }
    if (least === null) return null;
    const queued = least.shift();
    this.#clock = least.used;
    if (!least.peek()) this.#waiting.delete(least);
    return queued;
  }

  charge(name: string, ms: number): void {
    this.used += ms;
    this.#holderOf(name).used += ms;
  }

  #holderOf(name: string): Holder<T> {
    const known = this.#holders.get(name);
    if (known) return known;
    if (this.#holders.size > IDLE_MAX + this.#waiting.size) this.#forgetIdle();
    const holder = new Holder<T>(this.#clock);
    this.#holders.set(name, holder);
    return holder;
  }

  #forgetIdle(): void {
    for (const [name, holder] of this.#holders) {
      if (!this.#waiting.has(holder)) this.#holders.delete(name);
    }
  }
}

class Holder<T> {
  used: number;
  /** The rests of jobs that have begun. */
  begun: QueueEntry<T>[] = [];
  readonly #others = new Rota<T>(
    ({ caller }) => caller,
    () =>
      new Rota<T>(
        ({ agent }) => agent,
        () => new Line<T>(),
      ),
  );

  constructor(used: number) {
    this.used = used;
  }

  add(queued: QueueEntry<T>): void {
    this.#others.add(queued);
  }

  peek(): QueueEntry<T> | null {
    while (this.begun[0] && !this.begun[0].isWaiting) this.begun.shift();
    return this.begun[0] ?? this.#others.peek();
  }

  shift(): QueueEntry<T> | null {
    const queued = this.peek();
    if (!queued) return null;
    queued.isWaiting = false;
    if (this.begun[0] === queued) this.begun.shift();
    else this.#others.shift();
    return queued;
  }
}

/** Jobs that wait. Drops those that were taken out meanwhile. */
interface JobQueue<T> {
  add(queued: QueueEntry<T>): void;
  /** The next one. */
  peek(): QueueEntry<T> | null;
  /** Removes what `peek` has returned. */
  shift(): void;
}

/** Parts that take turns. */
class Rota<T> implements JobQueue<T> {
  readonly #nameOf: (lane: Lane) => string;
  readonly #newPart: () => JobQueue<T>;
  /** In the order of their turns. */
  readonly #parts = new Map<string, JobQueue<T>>();

  constructor(nameOf: (lane: Lane) => string, newPart: () => JobQueue<T>) {
    this.#nameOf = nameOf;
    this.#newPart = newPart;
  }

  add(queued: QueueEntry<T>): void {
    const name = this.#nameOf(queued.lane);
    const part = this.#parts.get(name) ?? this.#newPart();
    part.add(queued);
    this.#parts.set(name, part);
  }

  peek(): QueueEntry<T> | null {
    for (const [name, part] of this.#parts) {
      const queued = part.peek();
      if (queued) return queued;
      this.#parts.delete(name);
    }
    return null;
  }

  shift(): void {
    const [first] = this.#parts;
    if (!first) return;
    const [name, part] = first;
    part.shift();
    const isEmpty = part.peek() === null;
    if (!isEmpty && this.#parts.size === 1) return;
    // To the end: the next one's turn.
    this.#parts.delete(name);
    if (!isEmpty) this.#parts.set(name, part);
  }
}

const COMPACT_FROM = 256;

/** First come, first served. */
class Line<T> implements JobQueue<T> {
  /** Those that have left are null, so that nothing keeps their requests in memory. */
  #items: (QueueEntry<T> | null)[] = [];
  /** The first that may still wait. */
  #at = 0;

  add(queued: QueueEntry<T>): void {
    this.#items.push(queued);
  }

  peek(): QueueEntry<T> | null {
    for (; this.#at < this.#items.length; this.#at += 1) {
      const queued = this.#items[this.#at];
      if (queued?.isWaiting) return queued;
      this.#items[this.#at] = null;
    }
    return null;
  }

  shift(): void {
    this.#items[this.#at] = null;
    this.#at += 1;
    if (this.#at < COMPACT_FROM) return;
    this.#items = this.#items.slice(this.#at);
    this.#at = 0;
  }
}
