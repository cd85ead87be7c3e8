import type { Semaphore } from '../lib/semaphore.ts';

/** So many posts to one destination at once: at first, when all goes well, and when nothing does. */
const PLACES_FIRST = 4;
const PLACES_MAX = 16;
const PLACES_MIN = 2;
/** After so many failures in a row each place pauses this long: a refused connection costs nobody else anything. */
const PATIENCE = 5;
const PAUSE_MS = 50;
/** So many deliveries are read at once, and again when no more than these are left. */
const PAGE = 128;
const PAGE_LOW = 32;

interface Waiting {
  readonly id: string;
  /** Slots it takes. */
  readonly weight: number;
}

/** `skipped`: it is not to be sent after all, and what else is at hand may be out of date as well. */
export type Attempted =
  | { readonly kind: 'made'; readonly well: boolean; readonly recorded: Promise<void> }
  | { readonly kind: 'skipped' };

/** The longest waiting that are due and not known yet. */
export interface Page<D> {
  readonly fresh: readonly D[];
  /** There may be others behind them. */
  readonly more: boolean;
  /** Some were left out because they are known. */
  readonly passedOver: boolean;
}

interface Work<D extends Waiting> {
  readonly load: (limit: number, known: ReadonlySet<string>) => Promise<Page<D>>;
  /** Never rejects. */
  readonly attempt: (delivery: D) => Promise<Attempted>;
  readonly onError: (error: unknown) => void;
  /** These are not tried now after all; whoever loads next may find them again. */
  readonly onForgotten: (deliveries: readonly D[]) => void;
  /** Nothing is under way or at hand any more. */
  readonly onIdle: () => void;
}

/**
 * The way to one destination. It reads what is due a page at a time, keeps a few posts under way, and learns how many the
 * destination bears: one more for each that went well, half as many after one that did not. Holds no timer while there
 * is nothing to do.
 */
export class DestinationQueue<D extends Waiting> {
  readonly #semaphore: Semaphore;
  readonly #work: Work<D>;
  /** At hand, under way, or done and not yet written down: all that the rows still call due. */
  readonly #known = new Set<string>();
  readonly #pumpAgain = (): void => this.#pump();
  #atHand: D[] = [];
  #places = PLACES_FIRST;
  #used = 0;
  #failures = 0;
  #mayHaveMore = false;
  #hasPassedOver = false;
  #isLoading = false;
  #isClosed = false;

  constructor(semaphore: Semaphore, work: Work<D>) {
    this.#semaphore = semaphore;
    this.#work = work;
  }

  /** Fewer posts at once than a destination starts with: worth remembering while nothing is due. */
  get isSlowed(): boolean {
    return this.#places < PLACES_FIRST;
  }

  /** Nothing is under way or at hand. */
  get isIdle(): boolean {
    return this.#known.size === 0 && !this.#isLoading && !this.#mayHaveMore;
  }

  /** Something is due, or may be. */
  wake(): void {
    this.#mayHaveMore = true;
    this.#pump();
  }

  /** Begins nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#rest();
  }

  #pump(): void {
    while (!this.#isClosed && this.#used < this.#places) {
      const [next] = this.#atHand;
      if (!next || !this.#semaphore.take(next.weight, this.#pumpAgain)) break;
      this.#atHand.shift();
      void this.#deliver(next);
    }
    if (this.#atHand.length <= PAGE_LOW && this.#mayHaveMore && !this.#isLoading) {
      void this.#load();
    }
  }

  async #load(): Promise<void> {
    if (this.#isClosed) return;
    this.#isLoading = true;
    this.#mayHaveMore = false;
    // What is written down while the page is read was known when its snapshot was taken.
    const known = new Set(this.#known);
    try {
      const { fresh, more, passedOver } = await this.#work.load(PAGE, known);
      const haveLeft = [...known].some((id) => !this.#known.has(id));
      for (const delivery of fresh) this.#known.add(delivery.id);
      this.#atHand.push(...fresh);
      this.#mayHaveMore ||= more || (passedOver && haveLeft);
      this.#hasPassedOver ||= passedOver;
      if (this.#isClosed) this.#rest();
    } catch (error) {
      this.#work.onError(error);
    } finally {
      this.#isLoading = false;
    }
    this.#pump();
    this.#tellIfIdle();
  }

  async #deliver(delivery: D): Promise<void> {
    this.#used += 1;
    const attempted = await this.#work.attempt(delivery);
    if (attempted.kind === 'made') {
      this.#learn(attempted.well);
      void this.#leave();
      await attempted.recorded;
    } else {
      this.#rest(delivery);
      void this.#leave();
    }
    this.#known.delete(delivery.id);
    // Somebody may have asked for it anew between the end of its attempt and now.
    this.#mayHaveMore ||= this.#hasPassedOver && !this.#isClosed;
    this.#hasPassedOver = false;
    this.#semaphore.give(delivery.weight);
    this.#pump();
    this.#tellIfIdle();
  }

  /** Makes room for the next one, when so many failed in a row not at once. */
  async #leave(): Promise<void> {
    if (this.#failures >= PATIENCE) await pause();
    this.#used -= 1;
    this.#pump();
  }

  #learn(well: boolean): void {
    if (well) {
      this.#failures = 0;
      this.#places = Math.min(this.#places + 1, PLACES_MAX);
    } else {
      this.#failures += 1;
      this.#places = Math.max(Math.floor(this.#places / 2), PLACES_MIN);
    }
  }

  /** Forgets what is at hand, until somebody calls again: the rows know it. */
  #rest(...skipped: readonly D[]): void {
    const atHand = this.#atHand;
    for (const { id } of atHand) this.#known.delete(id);
    this.#atHand = [];
    this.#mayHaveMore = false;
    this.#work.onForgotten([...skipped, ...atHand]);
  }

  #tellIfIdle(): void {
    if (this.isIdle) this.#work.onIdle();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAUSE_MS);
  });
}
