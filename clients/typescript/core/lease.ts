import { isObject } from '../../../shared/lib/guards.ts';
import { Backoff } from './backoff.ts';
import type { Caller } from './caller.ts';
import { machineClock, type Clock } from './clock.ts';
import { answeredCode, badAnswer, canBeSatOut, messageOf, sentence, SvcError } from './errors.ts';
import { asEvent, type FeedEvent } from './event-feed.ts';

const CLAIM_TRIES = 5;
const CLOSE_TRIES_IN_A_HURRY = 5;
const SILENCE_MS = 30_000;
/** The part of a lease that isn't used, because two clocks don't run equally fast. */
const DRIFT = 0.02;

/** The errors of a claim when another worker was faster. */
const TAKEN: ReadonlySet<string> = new Set(['EVENT_NOT_CLAIMABLE', 'EVENT_ROUTED', 'NOT_FOUND']);

/** The errors of an ack or nack after the lease was lost. */
const LOST: ReadonlySet<string> = new Set([...TAKEN, 'LEASE_NOT_HELD', 'LEASE_EXPIRED']);

export interface LeaseOptions {
  readonly client: Caller;
  readonly leaseSeconds: number;
  /** How often the lease is extended; half the lease by default. */
  readonly beatSeconds?: number | undefined;
  /** Closes nothing once the lease may have ended. Otherwise the server decides. */
  readonly strict?: boolean | undefined;
  /** The user wants to stop quickly, so give up retrying soon. */
  readonly kill: AbortSignal;
  readonly note: (text: string) => void;
  readonly clock?: Clock | undefined;
}

/** How to close an event. `until: ['now']` returns it without counting a failure. */
export type Verdict =
  | {
      readonly ack: true;
      readonly result?: unknown;
      /** The approval that the act uses up, and the values done. */
      readonly spends?: string | undefined;
      readonly bind?: unknown;
    }
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
export interface CloseResult {
  readonly outcome: 'acked' | 'retry' | 'dead' | 'lost' | 'parked' | 'returned';
  readonly attempts: number | null;
  readonly retry_at: string | null;
  /** What a parked event waits for, and when it wakes at the latest. */
  readonly waiting_for?: unknown;
  readonly wakes_at?: unknown;
}

/** A claimed event, and when its claim was first sent: the lease can't end sooner than that plus its length. */
export interface Claim {
  readonly event: FeedEvent;
  readonly sentAt: number;
}

/**
 * Claims an event; null if another worker has it. Sits out network trouble, but only for a few tries once the worker is
 * stopping. Repeats a claim with the same key, so that a lost answer comes again and the event doesn't sit until its
 * lease ends.
 */
export async function takeEvent(
  options: LeaseOptions & { readonly signal: AbortSignal },
  eventId: string,
): Promise<Claim | null> {
  const { clock = machineClock } = options;
  const call = {
    body: { event_id: eventId, lease_seconds: options.leaseSeconds },
    headers: { 'Idempotency-Key': crypto.randomUUID() },
  };
  const backoff = new Backoff(undefined, clock);
  const sentAt = clock.now();
  for (;;) {
    try {
      const event = asEvent(await options.client.send('POST', '/v1/inbox/claim', call));
      if (event) return { event, sentAt };
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

/** One event's claim: extended while its handler runs, then closed. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #clock: Clock;
  readonly #event: FeedEvent;
  readonly #released = new AbortController();
  readonly #lost = new AbortController();
  readonly #ended = AbortSignal.any([this.#released.signal, this.#lost.signal]);
  /** By this time nobody else can hold the event. */
  #heldUntil: number;

  constructor(options: LeaseOptions, { event, sentAt }: Claim) {
    this.#options = options;
    this.#clock = options.clock ?? machineClock;
    this.#event = event;
    this.#heldUntil = this.#endOf(sentAt);
    // Both handle their own errors while the handler runs.
    void this.#keep();
    void this.#watch();
  }

  /** Fires when the lease is lost, before anybody else can hold the event; its reason is an `SvcError`. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Stops extending the lease. */
  release(): void {
    this.#released.abort();
  }

  #endOf(sentAt: number): number {
    return sentAt + this.#options.leaseSeconds * 1000 * (1 - DRIFT);
  }

  async #watch(): Promise<void> {
    for (;;) {
      const leftMs = this.#heldUntil - this.#clock.now();
      if (leftMs <= 0) return this.#lose('The lease ran out.');
      if (!(await this.#clock.sleep(leftMs, this.#ended))) return;
    }
  }

  #lose(message: string): void {
    if (!this.#ended.aborted) this.#lost.abort(new SvcError({ code: 'LEASE_EXPIRED', message }));
  }

  async #keep(): Promise<void> {
    const { leaseSeconds, note, beatSeconds = leaseSeconds / 2 } = this.#options;
    const beatMs = beatSeconds * 1000;
    const timeoutMs = Math.min(SILENCE_MS, beatMs / 2);
    let pause = beatMs;
    while (await this.#clock.sleep(pause, this.#ended)) {
      const sentAt = this.#clock.now();
      try {
        await this.#call('extend', { lease_seconds: leaseSeconds }, { timeoutMs });
        this.#heldUntil = this.#endOf(sentAt);
        pause = beatMs;
      } catch (error) {
        if (this.#ended.aborted) return;
        if (!canBeSatOut(error)) {
          note(`${this.#event.id}: svc couldn't extend the lease: ${messageOf(error)}`);
          if (LOST.has(answeredCode(error) ?? '')) this.#lose(messageOf(error));
          return;
        }
        pause = beatMs / 8;
      }
    }
  }

  /**
   * Acks or nacks, retrying through network trouble for as long as a lease lasts. `saysParked`: the command's exit code
   * says it parked the event.
   */
  async close(decided: Verdict, saysParked = false): Promise<CloseResult> {
    // A nack of a parked event would be refused, and the ledger would record that.
    const parked = saysParked ? await this.parked(false) : null;
    if (parked) return parked;
    const { leaseSeconds } = this.#options;
    const deadline = this.#clock.now() + leaseSeconds * 1000;
    const backoff = new Backoff(undefined, this.#clock);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    for (;;) {
      if (this.#options.strict && this.#isOver()) return this.#lostBy('The lease ran out.');
      try {
        return await this.#send(decided, headers);
      } catch (error) {
        const simpler = this.#simpler(decided, error);
        if (simpler) return this.close(simpler, saysParked);
        if (!canBeSatOut(error)) return this.#refused(error, saysParked);
        if (this.#isTired(backoff, deadline)) return this.#lostBy(messageOf(error));
        await backoff.pause(error, this.#options.strict ? this.lost : this.#released.signal);
      }
    }
  }

  async #send(
    { ack, ...fields }: Verdict,
    headers: Readonly<Record<string, string>>,
  ): Promise<CloseResult> {
    return closedBy(ack, await this.#call(ack ? 'ack' : 'nack', fields, { headers }));
  }

  #isTired({ failures }: Backoff, deadline: number): boolean {
    const isHurried = this.#options.kill.aborted && failures >= CLOSE_TRIES_IN_A_HURRY;
    return isHurried || this.#clock.now() > deadline;
  }

  #isOver(): boolean {
    return this.#lost.signal.aborted || this.#clock.now() >= this.#heldUntil;
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
    const { result: _refused, ...rest } = decided;
    return rest;
  }

  async #refused(error: unknown, saysParked: boolean): Promise<CloseResult> {
    const code = answeredCode(error);
    if (code === null || !LOST.has(code)) throw error;
    const parked = code === 'LEASE_EXPIRED' ? null : await this.parked(saysParked);
    return parked ?? this.#lostBy(`${code}: ${messageOf(error)}`);
  }

  /** How the event was closed if its handler parked it; it may be awake again by now. */
  async parked(saysParked: boolean): Promise<CloseResult | null> {
    const { client } = this.#options;
    const path = `/v1/inbox/events/${this.#event.id}`;
    const found = await client.send('GET', path).catch(() => null);
    const { status, waiting_for, wakes_at } = isObject(found) ? found : {};
    const unchanged = { attempts: null, retry_at: null };
    if (status === 'waiting') return { outcome: 'parked', ...unchanged, waiting_for, wakes_at };
    if (!saysParked || status === 'done') return null;
    return { outcome: status === 'dead' ? 'dead' : 'parked', ...unchanged };
  }

  #lostBy(why: string): CloseResult {
    this.#options.note(`${this.#event.id}: svc couldn't record the result: ${why}`);
    return { outcome: 'lost', attempts: null, retry_at: null };
  }

  #call(
    verb: 'ack' | 'nack' | 'extend',
    fields: Readonly<Record<string, unknown>>,
    options: { readonly headers?: Readonly<Record<string, string>>; readonly timeoutMs?: number },
  ): Promise<unknown> {
    const lease_id = this.#event['lease_id'];
    const body = { event_id: this.#event.id, lease_id, ...fields };
    return this.#options.client.send('POST', `/v1/inbox/${verb}`, { body, ...options });
  }
}

function closedBy(ack: boolean, answer: unknown): CloseResult {
  if (ack) return { outcome: 'acked', attempts: null, retry_at: null };
  const { status, attempts, retry_at } = isObject(answer) ? answer : {};
  return {
    outcome: status === 'dead' ? 'dead' : status === 'pending' ? 'returned' : 'retry',
    attempts: typeof attempts === 'number' ? attempts : null,
    retry_at: typeof retry_at === 'string' ? retry_at : null,
  };
}
