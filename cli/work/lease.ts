import { randomUUID } from 'node:crypto';
import type { Client } from '../client.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { badAnswer, messageOf, sentence } from '../errors.ts';
import { asEvent, type FeedEvent } from './event-feed.ts';
import { canBeSatOut } from '../retry/passing.ts';
import { answeredCode, Backoff, sleep } from './backoff.ts';

const CLAIM_TRIES = 5;
const CLOSE_TRIES_IN_A_HURRY = 5;

/** How the interface refuses a claim when another worker was faster. */
const TAKEN: ReadonlySet<string> = new Set(['EVENT_NOT_CLAIMABLE', 'EVENT_ROUTED', 'NOT_FOUND']);

/** How it refuses to close an event whose lease is gone. */
const LOST: ReadonlySet<string> = new Set([...TAKEN, 'LEASE_NOT_HELD', 'LEASE_EXPIRED']);

export interface LeaseOptions {
  readonly client: Client;
  readonly leaseSeconds: number;
  /** Somebody is in a hurry to end: give up trying soon. */
  readonly kill: AbortSignal;
  readonly note: (text: string) => void;
}

/** How an event is to be closed. */
export type Verdict =
  | { readonly ack: true; readonly result?: unknown }
  | { readonly ack: false; readonly reason: string; readonly retry: boolean };

/** How it was closed. `lost`: its lease had run out or gone to another worker by then. */
export interface Closed {
  readonly outcome: 'acked' | 'retry' | 'dead' | 'lost';
  readonly attempts: number | null;
  readonly retry_at: string | null;
}

/**
 * Claims an event; null when another worker has it. Sits out network trouble, for a few tries once no more is to be taken. A
 * claim whose answer was lost is repeated with the same key, so that it is answered again instead of leaving the event to
 * its lease.
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
      // An interrupt must not leave a claim behind that nobody knows of, so this pause ignores it.
      await backoff.pause(error, options.kill);
    }
  }
}

/** The claim of one event: kept alive while the command runs, then closed. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #event: FeedEvent;
  readonly #released = new AbortController();

  constructor(options: LeaseOptions, event: FeedEvent) {
    this.#options = options;
    this.#event = event;
    // It handles its own errors; the command runs on meanwhile.
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

  /** Acks or nacks. Tries through network trouble for as long as a lease lasts. */
  async close(decided: Verdict): Promise<Closed> {
    const { ack, ...rest } = decided;
    const deadline = performance.now() + this.#options.leaseSeconds * 1000;
    const backoff = new Backoff();
    const headers = { 'Idempotency-Key': randomUUID() };
    for (;;) {
      try {
        const answer = await this.#call(ack ? 'ack' : 'nack', rest, headers);
        return closedBy(ack, answer);
      } catch (error) {
        if (ack && 'result' in decided && answeredCode(error) === 'VALIDATION_FAILED') {
          this.#options.note(
            `${this.#event.id}: the server refused the result, so svc left it out.`,
          );
          return this.close({ ack: true });
        }
        if (!canBeSatOut(error)) return this.#refused(error);
        const tired = this.#options.kill.aborted && backoff.failures >= CLOSE_TRIES_IN_A_HURRY;
        if (tired || performance.now() > deadline) return this.#lost(messageOf(error));
        await backoff.pause(error, this.#released.signal);
      }
    }
  }

  #refused(error: unknown): Closed {
    const code = answeredCode(error);
    if (code === null || !LOST.has(code)) throw error;
    return this.#lost(`${code}: ${messageOf(error)}`);
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
    outcome: status === 'dead' ? 'dead' : 'retry',
    attempts: typeof attempts === 'number' ? attempts : null,
    retry_at: typeof retry_at === 'string' ? retry_at : null,
  };
}
