import { machineClock, type Clock } from './clock.ts';
import { EventFeed, type EventFilter, type FeedEvent } from './event-feed.ts';
import { Lease, takeEvent, type Claim, type LeaseOptions } from './lease.ts';

const WAIT_SECONDS = 60;
const DRAIN_WAIT_SECONDS = 1;

export interface ClaimLoop extends LeaseOptions, EventFilter {
  readonly concurrency: number;
  /** Stop after this many events. */
  readonly max: number;
  /** Stop when no events are pending. */
  readonly drain: boolean;
  /** Claim no more events. */
  readonly signal: AbortSignal;
  /** Handles and closes an event. An error stops the loop. */
  readonly run: (event: FeedEvent, lease: Lease) => Promise<void>;
  /** The loop was stopped while handlers run. */
  readonly onStopping?: (running: number) => void;
}

/**
 * Claims one event at a time and handles several at once. A single waiter serves all of them, because several would
 * wake for the same oldest event and race for it. A claimed event isn't pending, so the next wait gets the next one.
 */
export async function claimLoop(options: ClaimLoop): Promise<void> {
  const { signal, note, clock = machineClock } = options;
  const feed = new EventFeed({ ...options, trouble: note });
  const running = new Set<Promise<void>>();
  const lost = new LostClaims(clock);
  const failures: unknown[] = [];
  const interrupted = (): void => {
    if (running.size > 0) options.onStopping?.(running.size);
  };
  signal.addEventListener('abort', interrupted, { once: true });
  try {
    for (let taken = 0; taken < options.max && failures.length === 0;) {
      if (running.size >= options.concurrency) await Promise.race(running);
      const event = signal.aborted ? null : await nextEvent(options, feed);
      if (event === null) break;
      const claim = await takeEvent(options, event.id);
      if (claim === null) {
        await lost.pause(event.id, signal);
        continue;
      }
      taken += 1;
      const job = handled(options, claim)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(job));
      running.add(job);
    }
  } finally {
    await Promise.all(running);
    signal.removeEventListener('abort', interrupted);
  }
  if (failures.length > 0) throw failures[0];
}

/** Null when the loop is over. */
async function nextEvent({ drain, signal }: ClaimLoop, feed: EventFeed): Promise<FeedEvent | null> {
  for (;;) {
    const waited = await feed.next({ seconds: drain ? DRAIN_WAIT_SECONDS : WAIT_SECONDS });
    if (waited === null || signal.aborted) return null;
    if (waited.event || drain) return waited.event;
  }
}

async function handled(options: ClaimLoop, claim: Claim): Promise<void> {
  const lease = new Lease(options, claim);
  try {
    await options.run(claim.event, lease);
  } finally {
    lease.release();
  }
}

/**
 * Slows down repeated claims: a wait answered by a lagging replica may briefly show an event another worker has taken.
 */
export class LostClaims {
  readonly #clock: Clock;
  #id = '';
  #repeats = 0;

  constructor(clock: Clock = machineClock) {
    this.#clock = clock;
  }

  /** Waits a little if the same event was lost twice in a row. */
  async pause(id: string, signal: AbortSignal): Promise<void> {
    this.#repeats = id === this.#id ? this.#repeats + 1 : 0;
    this.#id = id;
    if (this.#repeats > 0) {
      await this.#clock.sleep(Math.min(2000, 20 * 2 ** Math.min(this.#repeats, 7)), signal);
    }
  }
}
