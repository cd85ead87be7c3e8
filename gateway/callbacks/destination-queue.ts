import type { Semaphore } from '../lib/semaphore.ts';
import type { DuePage } from '../lib/due-page.ts';

/** How many posts to one destination run at once: at the start, if all succeed, and if all fail. */
const SLOTS_FIRST = 4;
const SLOTS_MAX = 16;
const SLOTS_MIN = 2;
/** After this many failures in a row, each slot pauses this long, so refused connections cost others nothing. */
const PATIENCE = 5;
const PAUSE_MS = 50;
/** How many deliveries are read at once, and how few must be left before reading again. */
const PAGE = 128;
const PAGE_LOW = 32;

interface QueueItem {
  readonly id: string;
  /** How many slots it takes. */
  readonly weight: number;
}

/** `skipped`: it isn't to be sent after all, and other loaded deliveries may be out of date too. */
export type AttemptResult =
  | { readonly kind: 'made'; readonly well: boolean; readonly recorded: Promise<void> }
  | { readonly kind: 'skipped' };

interface Work<D extends QueueItem> {
  readonly load: (limit: number, known: ReadonlySet<string>) => Promise<DuePage<D>>;
  /** Never rejects. */
  readonly attempt: (delivery: D) => Promise<AttemptResult>;
  readonly onError: (error: unknown) => void;
  /** These won't be tried now; the next load may find them again. */
  readonly onForgotten: (deliveries: readonly D[]) => void;
  /** Called when nothing is loaded or under way any more. */
  readonly onIdle: () => void;
}

/**
 * The queue for one destination. It reads due deliveries a page at a time, keeps a few posts under way, and learns how
 * many the destination can take: one more after each success, half as many after a failure. It runs no timer while
 * there's nothing to do.
 */
export class DestinationQueue<D extends QueueItem> {
  readonly #semaphore: Semaphore;
  readonly #work: Work<D>;
  /** Loaded, under way, or done but not recorded yet: everything that the rows still show as due. */
  readonly #known = new Set<string>();
  readonly #pumpAgain = (): void => this.#pump();
  #atHand: D[] = [];
  #slots = SLOTS_FIRST;
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

  /** Whether it runs fewer posts at once than a new destination, which is worth remembering while nothing is due. */
  get isSlowed(): boolean {
    return this.#slots < SLOTS_FIRST;
  }

  /** Whether nothing is loaded or under way. */
  get isIdle(): boolean {
    return this.#known.size === 0 && !this.#isLoading && !this.#mayHaveMore;
  }

  /** Call when something is or may be due. */
  wake(): void {
    this.#mayHaveMore = true;
    this.#pump();
  }

  /** Starts nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#rest();
  }

  #pump(): void {
    while (!this.#isClosed && this.#used < this.#slots) {
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
    // Deliveries recorded while the page is read were still known when its snapshot was taken.
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
      void this.#release();
      await attempted.recorded;
    } else {
      this.#rest(delivery);
      void this.#release();
    }
    this.#known.delete(delivery.id);
    // Somebody may have asked for another attempt since this one ended.
    this.#mayHaveMore ||= this.#hasPassedOver && !this.#isClosed;
    this.#hasPassedOver = false;
    this.#semaphore.give(delivery.weight);
    this.#pump();
    this.#tellIfIdle();
  }

  /** Frees a slot for the next one; after many failures in a row, only after a pause. */
  async #release(): Promise<void> {
    if (this.#failures >= PATIENCE) await pause();
    this.#used -= 1;
    this.#pump();
  }

  #learn(well: boolean): void {
    if (well) {
      this.#failures = 0;
      this.#slots = Math.min(this.#slots + 1, SLOTS_MAX);
    } else {
      this.#failures += 1;
      this.#slots = Math.max(Math.floor(this.#slots / 2), SLOTS_MIN);
    }
  }

  /** Drops loaded deliveries until the next call; the rows still have them. */
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
