import { randomUUID } from 'node:crypto';
import type { Client } from '../client.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { badAnswer, messageOf, sentence } from '../errors.ts';
import { asEvent, type FeedEvent } from './event-feed.ts';
import { canBeSatOut } from '../retry/passing.ts';
import { answeredCode, Backoff, sleep } from './backoff.ts';

const CLAIM_TRIES = 5;
const CLOSE_TRIES_IN_A_HURRY = 5;

/** The errors of a claim when another worker was faster. */
const TAKEN: ReadonlySet<string> = new Set(['EVENT_NOT_CLAIMABLE', 'EVENT_ROUTED', 'NOT_FOUND']);

/** The errors of an ack or nack after the lease was lost. */
const LOST: ReadonlySet<string> = new Set([...TAKEN, 'LEASE_NOT_HELD', 'LEASE_EXPIRED']);

export interface LeaseOptions {
  readonly client: Client;
  readonly leaseSeconds: number;
  /** The user wants to stop quickly, so give up retrying soon. */
  readonly kill: AbortSignal;
  readonly note: (text: string) => void;
}

/** How to close an event. `until: ['now']` returns it without counting a failure. */
export type Verdict =
  | { readonly ack: true; readonly result?: unknown }
  | {
      readonly ack: false;
      readonly reason: string;
      readonly retry: boolean;
      readonly until?: readonly ['now'];
    };

/**
 * How an event was closed. `returned`: given back without counting a failure; `parked`: its command parked it; `lost`:
 * its lease ran out or went to another worker first.
 */
export interface Closed {
  readonly outcome: 'acked' | 'retry' | 'dead' | 'lost' | 'parked' | 'returned';
  readonly attempts: number | null;
  readonly retry_at: string | null;
  /** What a parked event waits for, and when it wakes at the latest. */
  readonly waiting_for?: unknown;
  readonly wakes_at?: unknown;
}

/**
 * Claims an event; null if another worker has it. Sits out network trouble, but only for a few tries once svc is
 * stopping. Repeats a claim with the same key, so that a lost answer comes again and the event doesn't sit until its
 * lease ends.
 */
export async function takeEvent(
  options: LeaseOptions & { readonly signal: AbortSignal },
  eventId: string,
): Promise<FeedEvent | null> {
  const call = {
    body: { event_id: eventId, lease_seconds: options.leaseSeconds },
    headers: { 'Idempotency-Key': randomUUID() },
  };
  const backoff = new Backoff();
  for (;;) {
    try {
      const event = asEvent(await options.client.call('POST', '/v1/inbox/claim', call));
      if (event) return event;
      throw badAnswer("The claim's answer isn't an event.");
    } catch (error) {
      if (TAKEN.has(answeredCode(error) ?? '')) return null;
      const isTired = options.signal.aborted && backoff.failures >= CLAIM_TRIES;
      if (!canBeSatOut(error) || isTired) throw error;
      if (backoff.failures === 0) options.note(`${sentence(messageOf(error))} Trying again.`);
      // Ignores the interrupt, which must not leave behind a claim that nobody knows about.
      await backoff.pause(error, options.kill);
    }
  }
}

/** One event's claim: extended while the command runs, then closed. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #event: FeedEvent;
  readonly #released = new AbortController();

  constructor(options: LeaseOptions, event: FeedEvent) {
    this.#options = options;
    this.#event = event;
    // It handles its own errors while the command runs.
    void this.#keep();
  }

  release(): void {
    this.#released.abort();
  }

  async #keep(): Promise<void> {
    const { leaseSeconds, note } = this.#options;
    const half = leaseSeconds * 500;
    let pause = half;
    while (await sleep(pause, this.#released.signal)) {
      try {
        await this.#call('extend', { lease_seconds: leaseSeconds });
        pause = half;
      } catch (error) {
        if (!canBeSatOut(error)) {
          note(`${this.#event.id}: svc couldn't extend the lease: ${messageOf(error)}`);
          return;
        }
        pause = half / 8;
      }
    }
  }

  /**
   * Acks or nacks, retrying through network trouble for as long as a lease lasts. `saysParked`: the command's exit code
   * says it parked the event.
   */
  async close(decided: Verdict, saysParked = false): Promise<Closed> {
    // A nack of a parked event would be refused, and the ledger would record that.
    const parked = saysParked ? await this.#parked(false) : null;
    if (parked) return parked;
    const { ack, ...rest } = decided;
    const deadline = performance.now() + this.#options.leaseSeconds * 1000;
    const backoff = new Backoff();
    const headers = { 'Idempotency-Key': randomUUID() };
    for (;;) {
      try {
        const answer = await this.#call(ack ? 'ack' : 'nack', rest, headers);
        return closedBy(ack, answer);
      } catch (error) {
        const simpler = this.#simpler(decided, error);
        if (simpler) return this.close(simpler, saysParked);
        if (!canBeSatOut(error)) return this.#refused(error, saysParked);
        const tired = this.#options.kill.aborted && backoff.failures >= CLOSE_TRIES_IN_A_HURRY;
        if (tired || performance.now() > deadline) return this.#lost(messageOf(error));
        await backoff.pause(error, this.#released.signal);
      }
    }
  }

  /** The verdict without the part the server refuses; null if nothing can be left out. */
  #simpler(decided: Verdict, error: unknown): Verdict | null {
    if (answeredCode(error) !== 'VALIDATION_FAILED') return null;
    if (!decided.ack) {
      // Gateways of earlier releases don't know `until`.
      const { until, ...counted } = decided;
      return until ? counted : null;
    }
    if (!('result' in decided)) return null;
    this.#options.note(`${this.#event.id}: the server refused the result, so svc left it out.`);
    return { ack: true };
  }

  async #refused(error: unknown, saysParked: boolean): Promise<Closed> {
    const code = answeredCode(error);
    if (code === null || !LOST.has(code)) throw error;
    const parked = code === 'LEASE_EXPIRED' ? null : await this.#parked(saysParked);
    return parked ?? this.#lost(`${code}: ${messageOf(error)}`);
  }

  /** How the event was closed if its command parked it; it may be awake again by now. */
  async #parked(saysParked: boolean): Promise<Closed | null> {
    const { client } = this.#options;
    const path = `/v1/inbox/events/${this.#event.id}`;
    const found = await client.call('GET', path).catch(() => null);
    const { status, waiting_for, wakes_at } = isObject(found) ? found : {};
    const unchanged = { attempts: null, retry_at: null };
    if (status === 'waiting') return { outcome: 'parked', ...unchanged, waiting_for, wakes_at };
    if (!saysParked || status === 'done') return null;
    return { outcome: status === 'dead' ? 'dead' : 'parked', ...unchanged };
  }

  #lost(why: string): Closed {
    this.#options.note(`${this.#event.id}: svc couldn't record the result: ${why}`);
    return { outcome: 'lost', attempts: null, retry_at: null };
  }

  #call(
    verb: 'ack' | 'nack' | 'extend',
    fields: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    const lease_id = this.#event['lease_id'];
    const body = { event_id: this.#event.id, lease_id, ...fields };
    return this.#options.client.call('POST', `/v1/inbox/${verb}`, { body, headers });
  }
}

function closedBy(ack: boolean, answer: unknown): Closed {
  if (ack) return { outcome: 'acked', attempts: null, retry_at: null };
  const { status, attempts, retry_at } = isObject(answer) ? answer : {};
  return {
    outcome: status === 'dead' ? 'dead' : status === 'pending' ? 'returned' : 'retry',
    attempts: typeof attempts === 'number' ? attempts : null,
    retry_at: typeof retry_at === 'string' ? retry_at : null,
  };
}
