import { inNextTurn } from '../lib/next-turn.ts';
import { Budget, type BudgetLimits, type Full } from './budget.ts';
import { FairQueue, type Lane, type QueueEntry } from './fair-queue.ts';
import { PLACE_LIMITS, STRANGERS_LIMITS, WAITING_HEAD_BYTES, WAITING_LIMITS } from './limits.ts';

/** After so much work, the event loop has a turn, in which all sockets are read. */
const SLICE_MS = 4;

interface TurnsLimits {
  /** Requests under way, in all and of known callers. */
  readonly places: BudgetLimits;
  /** The part of them that strangers may take. */
  readonly strangers: BudgetLimits;
  /** The bytes that waiting requests hold. */
  readonly waiting: BudgetLimits;
}

const LIMITS: TurnsLimits = {
  places: PLACE_LIMITS,
  strangers: STRANGERS_LIMITS,
  waiting: WAITING_LIMITS,
};

interface Job {
  readonly run: () => void;
  /** How many places it takes. */
  readonly places: number;
}

const RESOLVED = Promise.resolve();

/**
 * Decides when requests begin. Each takes a place until its answer is complete or it only waits; the others stay in line,
 * and nothing more is read of their bodies. After some milliseconds of work, the sockets of others are read.
 */
export class Turns {
  readonly #queue = new FairQueue<Job>();
  readonly #places: Budget;
  readonly #strangers: Budget;
  readonly #waiting: Budget;
  /** A large request of a holder that has none under way; small ones leave room for it. */
  #nextLarge: QueueEntry<Job> | null = null;
  /** Milliseconds of work since the event loop had its last turn for that. */
  #worked = 0;
  /** The work that has just begun, and when. */
  #running: Lane | null = null;
  #runningSince = 0;

  constructor({ places, strangers, waiting }: TurnsLimits = LIMITS) {
    this.#places = new Budget('requests under way', places);
    this.#strangers = new Budget('requests under way', strangers, this.#places);
    this.#waiting = new Budget('waiting requests', waiting);
  }

  /** The places that are taken. */
  get underWay(): number {
    return this.#places.used;
  }

  /** The bytes that requests hold which wait for a place. */
  get waitingBytes(): number {
    return this.#waiting.used;
  }

  /**
   * Begins a request when it's its turn, perhaps at once. `bytes`: what may be read of its body before. Returns the
   * limit that its holder has reached, if it can't even wait.
   */
  enter(ticket: Ticket, bytes: number, begin: () => void): Full | null {
    const { lane, places } = ticket;
    if (this.#queue.isEmpty && this.#isFree() && this.takePlaces(lane, places)) {
      ticket.release();
      ticket.isUnderWay = true;
      this.#run(lane, begin);
      return null;
    }
    const full = this.wait(ticket, bytes);
    if (full !== null) return full;
    const run = (): void => {
      this.leaveLine(ticket);
      ticket.isUnderWay = this.takePlaces(lane, places);
      begin();
    };
    ticket.queued = this.#queue.push(lane, { run, places });
    this.#pump();
    return null;
  }

  /** Counts what a request holds until it begins. Returns the limit that its holder has reached, if it can't even wait. */
  wait(ticket: Ticket, bytes: number): Full | null {
    if (ticket.waitingBytes > 0) return null;
    const amount = WAITING_HEAD_BYTES + bytes;
    const full = this.#waiting.take(ticket.lane.counted, amount);
    if (full === null) ticket.waitingBytes = amount;
    return full;
  }

  /** Resolves when other work of this holder may use the event loop; it needs no place. */
  turn(lane: Lane): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push(lane, { run: resolve, places: 0 }, true);
      this.#pump();
    });
  }

  /** Takes as many places if there are. */
  takePlaces(lane: Lane, places: number): boolean {
    return this.#budgetOf(lane).take(lane.counted, places) === null;
  }

  givePlaces(lane: Lane, places: number): void {
    this.#budgetOf(lane).give(lane.counted, places);
    this.#pump();
  }

  leaveLine(ticket: Ticket): void {
    this.#waiting.give(ticket.lane.counted, ticket.waitingBytes);
    ticket.waitingBytes = 0;
    if (ticket.queued) ticket.queued.isWaiting = false;
    ticket.queued = null;
  }

  #budgetOf({ side }: Lane): Budget {
    return side === 'known' ? this.#places : this.#strangers;
  }

  /** Begins the next work if there's any and it may begin in this turn. */
  #pump(): void {
    if (this.#queue.isEmpty || !this.#isFree()) return;
    const next = this.#queue.shift(this.#mayBegin);
    if (next) this.#run(next.lane, next.job.run);
  }

  /** Whether there's a place for it. Notes a large request that has to wait, so that small ones leave room. */
  readonly #mayBegin = (queued: QueueEntry<Job>): boolean => {
    const { lane, job } = queued;
    const budget = this.#budgetOf(lane);
    if (this.#nextLarge?.isWaiting === false) this.#nextLarge = null;
    if (!budget.fits(lane.counted, job.places)) {
      if (budget.isIdle(lane.counted)) this.#nextLarge ??= queued;
      return false;
    }
    if (this.#nextLarge === null || this.#nextLarge === queued) return true;
    return budget.free - job.places >= this.#nextLarge.job.places;
  };

  /** Whether work may begin now. */
  #isFree(): boolean {
    return this.#running === null && this.#worked < SLICE_MS;
  }

  #run(lane: Lane, work: () => void): void {
    this.#running = lane;
    this.#runningSince = performance.now();
    try {
      work();
    } finally {
      void RESOLVED.then(this.#drained);
    }
  }

  /** Node calls `#ended` when the work has done all that it could do without waiting. */
  readonly #drained = (): void => process.nextTick(this.#ended);

  readonly #ended = (): void => {
    const ms = performance.now() - this.#runningSince;
    if (this.#running) this.#queue.charge(this.#running, ms);
    this.#running = null;
    this.#worked += ms;
    if (this.#worked >= SLICE_MS) inNextTurn(this.#nextTurn);
    else this.#pump();
  };

  readonly #nextTurn = (): void => {
    this.#worked = 0;
    this.#pump();
  };
}

/** The place of one request: in line at first, then under way. */
export class Ticket {
  readonly lane: Lane;
  /** How many it counts as: one with a large body takes the memory of several. */
  readonly places: number;
  queued: QueueEntry<Job> | null = null;
  waitingBytes = 0;
  isUnderWay = false;
  readonly #turns: Turns;

  constructor(turns: Turns, lane: Lane, places = 1) {
    this.#turns = turns;
    this.lane = lane;
    this.places = places;
  }

  /** Gives the place to another; a request in line never begins. May be called repeatedly. */
  release(): void {
    if (this.waitingBytes > 0) this.#turns.leaveLine(this);
    if (!this.isUnderWay) return;
    this.isUnderWay = false;
    this.#turns.givePlaces(this.lane, this.places);
  }
}
