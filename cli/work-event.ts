import { randomUUID } from 'node:crypto';
import { runChild, type ChildResult } from './child.ts';
import type { Client } from './client.ts';
import { asEvent, messageOf, type FeedEvent } from './event-feed.ts';
import { answeredCode, isPassing, Patience, sleep } from './patience.ts';
import { isObject, unreachable } from './errors.ts';
import { ACK_RESULT_MAX_BYTES, NACK_REASON_MAX_BYTES } from '../shared/limits.ts';
import { cutUtf8 } from '../shared/text.ts';

/** `EX_TEMPFAIL` and `EX_DATAERR` of sysexits: try again, and never try again. */
const EXIT_TRY_AGAIN = 75;
const EXIT_BAD_DATA = 65;
const CLAIM_TRIES = 5;
const CLOSE_TRIES_IN_A_HURRY = 5;
const KILLED_REASON = 'The worker was stopped.';

/** How an event ended. `lost`: the lease had run out or gone to another worker by the time the command ended. */
export interface Finished {
  readonly event_id: string;
  readonly type: string;
  readonly source: string;
  readonly outcome: 'acked' | 'retry' | 'dead' | 'lost';
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly attempts: number | null;
  readonly retry_at: string | null;
  readonly duration_ms: number;
}

export interface WorkOptions {
  readonly client: Client;
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  readonly leaseSeconds: number;
  /** Take no more events. */
  readonly signal: AbortSignal;
  /** Stop the running commands and give their events back. */
  readonly kill: AbortSignal;
  readonly note: (text: string) => void;
  readonly onFinished: (finished: Finished) => void;
}

/**
 * Claims an event. A claim whose answer was lost is repeated with the same key, so that it is answered again instead
 * of leaving the event to its lease.
 */
export async function takeEvent(options: WorkOptions, eventId: string): Promise<FeedEvent> {
  const call = {
    body: { event_id: eventId, lease_seconds: options.leaseSeconds },
    headers: { 'Idempotency-Key': randomUUID() },
  };
  const patience = new Patience();
  for (;;) {
    try {
      const event = asEvent(await options.client.call('POST', '/v1/inbox/claim', call));
      if (event) return event;
      throw unreachable('The claim was answered with something that is no event.');
    } catch (error) {
      if (!isPassing(error) || patience.failures >= CLAIM_TRIES) throw error;
      // An interrupt must not leave a claim behind that nobody knows of, so this pause ignores it.
      await patience.pause(error, options.kill);
    }
  }
}

/** Runs the command for a claimed event and closes the event by how it ended. */
export async function workEvent(options: WorkOptions, event: FeedEvent): Promise<Finished> {
  const started = performance.now();
  const lease = new Lease(options, event);
  try {
    const child = await runChild(options.command, {
      env: { ...options.env, ...eventEnv(event) },
      input: JSON.stringify(event),
      headBytes: ACK_RESULT_MAX_BYTES + 1,
      tailBytes: NACK_REASON_MAX_BYTES,
      onLine: options.note,
      kill: options.kill,
    });
    const closed = await lease.close(verdict(child, options.kill.aborted));
    return {
      event_id: event.id,
      type: event.type,
      source: event.source,
      ...closed,
      exit_code: child.code,
      signal: child.signal,
      duration_ms: Math.round(performance.now() - started),
    };
  } finally {
    lease.release();
  }
}

function eventEnv(event: FeedEvent): Record<string, string> {
  const leaseId = event['lease_id'];
  return {
    SVC_EVENT_ID: event.id,
    SVC_EVENT_TYPE: event.type,
    SVC_EVENT_SOURCE: event.source,
    SVC_LEASE_ID: typeof leaseId === 'string' ? leaseId : '',
  };
}

type Verdict =
  | { readonly ack: true; readonly result?: unknown }
  | { readonly ack: false; readonly reason: string; readonly retry: boolean };

function verdict(child: ChildResult, killed: boolean): Verdict {
  if (child.code === 0) return { ack: true, ...resultOf(child) };
  if (killed) return { ack: false, reason: KILLED_REASON, retry: true };
  return { ack: false, reason: reasonOf(child), retry: child.code !== EXIT_BAD_DATA };
}

/** Standard output as the result: JSON when it is whole and parses, else `{text}`; nothing when it is empty. */
function resultOf(child: ChildResult): { result?: unknown } {
  const whole = child.head.toString('utf8');
  // A cut may leave half a character at the end.
  const text = (child.headComplete ? whole : whole.replace(/\uFFFD+$/, '')).trim();
  if (text === '') return {};
  if (child.headComplete) {
    try {
      const result: unknown = JSON.parse(text);
      if (fits(result)) return { result };
    } catch {
      // No JSON: kept as text below.
    }
  }
  let bytes = ACK_RESULT_MAX_BYTES;
  let result = { text: cutUtf8(text, bytes) };
  // Quotes and control characters grow when written as JSON, so the right length is found by trying.
  while (!fits(result)) {
    bytes = Math.floor(bytes * 0.9);
    result = { text: cutUtf8(text, bytes) };
  }
  return { result };
}

function fits(result: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(result)) <= ACK_RESULT_MAX_BYTES;
}

/** The interface keeps the beginning of a reason, but what explains a failure stands at the end of standard error. */
function reasonOf(child: ChildResult): string {
  const how = child.signal ? `ended by ${child.signal}` : exitText(child.code);
  const room = NACK_REASON_MAX_BYTES - how.length - 2;
  const end = child.tail.subarray(-room).toString('utf8').replace(/^\uFFFD+/, '').trim();
  return end === '' ? how : `${how}: ${end}`;
}

function exitText(code: number | null): string {
  return code === EXIT_TRY_AGAIN ? 'asked to be tried again (exit 75)' : `exit ${code}`;
}

type Closed = Pick<Finished, 'outcome' | 'attempts' | 'retry_at'>;

/** The claim of one event: kept alive while the command runs, then closed. */
class Lease {
  readonly #options: WorkOptions;
  readonly #event: FeedEvent;
  readonly #released = new AbortController();

  constructor(options: WorkOptions, event: FeedEvent) {
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
        if (!isPassing(error)) {
          note(`${this.#event.id}: the lease could not be extended: ${messageOf(error)}`);
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
    const patience = new Patience();
    const headers = { 'Idempotency-Key': randomUUID() };
    for (;;) {
      try {
        const answer = await this.#call(ack ? 'ack' : 'nack', rest, headers);
        return closedBy(ack, answer);
      } catch (error) {
        if (ack && 'result' in decided && answeredCode(error) === 'VALIDATION_FAILED') {
          this.#options.note(`${this.#event.id}: the result was refused and is left out.`);
          return this.close({ ack: true });
        }
        if (!isPassing(error)) return this.#refused(error);
        const tired = this.#options.kill.aborted && patience.failures >= CLOSE_TRIES_IN_A_HURRY;
        if (tired || performance.now() > deadline) return this.#lost(messageOf(error));
        await patience.pause(error, this.#released.signal);
      }
    }
  }

  #refused(error: unknown): Closed {
    const code = answeredCode(error);
    if (code === null || !LOST_CODES.has(code)) throw error;
    return this.#lost(`${code}: ${messageOf(error)}`);
  }

  #lost(why: string): Closed {
    this.#options.note(`${this.#event.id}: the result could not be recorded: ${why}`);
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

const LOST_CODES: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'EVENT_NOT_CLAIMABLE',
  'EVENT_ROUTED',
  'LEASE_NOT_HELD',
  'LEASE_EXPIRED',
]);

function closedBy(ack: boolean, answer: unknown): Closed {
  if (ack) return { outcome: 'acked', attempts: null, retry_at: null };
  const { status, attempts, retry_at } = isObject(answer) ? answer : {};
  return {
    outcome: status === 'dead' ? 'dead' : 'retry',
    attempts: typeof attempts === 'number' ? attempts : null,
    retry_at: typeof retry_at === 'string' ? retry_at : null,
  };
}
