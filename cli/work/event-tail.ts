import type { Event } from '../../clients/typescript/generated/types.ts';
import { EventFeed } from '../../clients/typescript/core/event-feed.ts';
import { RetryingCalls } from '../../clients/typescript/core/retrying-calls.ts';
import type { Client } from '../call/client.ts';
import { LOST_PLACE, lostPlace } from './lost-place.ts';

interface TailOptions {
  readonly client: Client;
  readonly source: string | undefined;
  readonly type: string | undefined;
  /** The server's time from which events count, ISO 8601. */
  readonly since: string;
  readonly signal: AbortSignal;
  readonly trouble: (text: string) => void;
}

/** In the order in which an event passes through them, so that one that moves meanwhile isn't missed. */
const STATUSES = ['pending', 'claimed', 'waiting', 'failed', 'done', 'dead'] as const;
const PAGE = 100;
/** A wait sees only pending events, so look for the others this often. */
const WAKE_SECONDS = 10;
/** An event may be stored this long after others that were received later. */
const OVERLAP_MS = 10_000;

/** Events of any status as they arrive, each once, without claiming them. */
export class EventTail {
  readonly #options: TailOptions;
  readonly #feed: EventFeed;
  readonly #calls: RetryingCalls;
  /** The events shown since `#since`, with the times they were received. */
  readonly #seen = new Map<string, string>();
  #since: string;
  /** The newest event that was pending when we looked. */
  #after: string | undefined;

  constructor(options: TailOptions) {
    this.#options = options;
    this.#feed = new EventFeed(options);
    this.#calls = new RetryingCalls(options);
    this.#since = options.since;
  }

  /** What arrived, oldest first, until the signal is aborted. */
  async *batches(): AsyncGenerator<readonly Event[]> {
    for (;;) {
      const all = await this.#calls.answer(() => this.#all());
      if (all === null) return;
      const fresh = this.#fresh(all);
      if (fresh.length > 0) yield fresh;
      if (!(await this.#woken())) return;
    }
  }

  /** Waits for a new pending event, or for the time to look again. */
  async #woken(): Promise<boolean> {
    const wait = { seconds: WAKE_SECONDS, since: this.#since, after: this.#after };
    const waited = await this.#feed.next(wait).catch(lostPlace);
    if (waited === 'lost')
      this.#options.trouble(`${LOST_PLACE}. Continuing with what's there now.`);
    if (waited === 'lost') this.#after = undefined;
    else if (waited?.event) this.#after = waited.event.id;
    return waited !== null;
  }

  async #all(): Promise<Event[]> {
    const events: Event[] = [];
    for (const status of STATUSES) {
      const found = await this.#withStatus(status);
      events.push(...found);
      if (status === 'pending') this.#after = found.at(-1)?.id ?? this.#after;
    }
    return events;
  }

  async #withStatus(status: (typeof STATUSES)[number]): Promise<Event[]> {
    const { client, source, type, signal } = this.#options;
    const events: Event[] = [];
    let cursor: string | undefined;
    do {
      const query = { status, source, type, since: this.#since, limit: PAGE, cursor };
      const { items, next_cursor: next } = await client.call('inbox_list', query, { signal });
      events.push(...items);
      cursor = next ?? undefined;
    } while (cursor !== undefined);
    return events;
  }

  #fresh(events: readonly Event[]): Event[] {
    const fresh = new Map<string, Event>();
    for (const event of events) if (!this.#seen.has(event.id)) fresh.set(event.id, event);
    const sorted = [...fresh.values()].toSorted(byArrival);
    for (const { id, received_at: at } of sorted) this.#seen.set(id, at);
    this.#moveOn(sorted.at(-1)?.received_at);
    return sorted;
  }

  /** Forgets what is too old to be found again. */
  #moveOn(newest: string | undefined): void {
    if (newest === undefined) return;
    const since = new Date(Date.parse(newest) - OVERLAP_MS).toISOString();
    if (since <= this.#since) return;
    this.#since = since;
    for (const [id, at] of this.#seen) if (at < since) this.#seen.delete(id);
  }
}

function byArrival(one: Event, other: Event): number {
  const [first, second] = [one, other].map(({ received_at: at, id }) => `${at} ${id}`);
  return (first ?? '') < (second ?? '') ? -1 : 1;
}
