import { isObject } from '../../../shared/lib/guards.ts';
import type { Caller } from './caller.ts';
import { machineClock, type Clock } from './clock.ts';
import { RetryingCalls } from './retrying-calls.ts';
import { wholeWait } from './whole-wait.ts';

/** An event as the API returns it; only the fields that workers use are named. */
export interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly received_at: string;
  readonly verified: boolean;
  readonly [field: string]: unknown;
}

/** Which events. */
export interface EventFilter {
  readonly source?: string | undefined;
  /** A type, or a prefix ending `*`. */
  readonly type?: string | undefined;
  /** Leaves out decisions about the requests of other keys. */
  readonly mine?: boolean | undefined;
}

interface FeedOptions extends EventFilter {
  readonly client: Caller;
  /** Ends the feed. */
  readonly signal: AbortSignal;
  /** Called once when a series of failures starts, and once when it ends. */
  readonly trouble: (text: string) => void;
  readonly clock?: Clock | undefined;
}

interface Wait {
  readonly seconds: number;
  /** Only events received at or after this time. */
  readonly since?: string | undefined;
  /** Only events after this one. */
  readonly after?: string | undefined;
}

interface WaitAnswer {
  /** Null after the timeout. */
  readonly event: FeedEvent | null;
}

/** How much longer than its timeout a wait may be silent before the connection counts as lost. */
const SILENCE_MARGIN_MS = 15_000;

/** Waits for one event after another and sits out network trouble. */
export class EventFeed {
  readonly #options: FeedOptions;
  readonly #calls: RetryingCalls;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#calls = new RetryingCalls(options);
  }

  /** The first matching event, `event: null` at the timeout, or null once the signal is aborted. */
  next(wait: Wait): Promise<WaitAnswer | null> {
    const { clock = machineClock } = this.#options;
    const dueAt = clock.now() + wait.seconds * 1000;
    return this.#calls.answer(() => {
      const left = Math.max(1, Math.ceil((dueAt - clock.now()) / 1000));
      return this.#ask({ ...wait, seconds: Math.min(wait.seconds, left) });
    });
  }

  async #ask({ seconds, since, after }: Wait): Promise<WaitAnswer> {
    const { client, source, type, mine, signal } = this.#options;
    const call = client.send('GET', '/v1/inbox/wait', {
      query: { source, type, since, after, mine: mine || undefined, timeout_seconds: seconds },
      signal,
      timeoutMs: seconds * 1000 + SILENCE_MARGIN_MS,
    });
    const waited = call.then((answer) => ({
      event: isObject(answer) ? asEvent(answer['event']) : null,
    }));
    return wholeWait({ client, seconds, signal }, waited, ({ event }) => event === null);
  }
}

/** The value as an event, or null. */
export function asEvent(value: unknown): FeedEvent | null {
  if (!isObject(value) || typeof value['id'] !== 'string') return null;
  const { id, type, source, received_at, verified } = value;
  return {
    ...value,
    id,
    type: String(type),
    source: String(source),
    received_at: String(received_at),
    verified: verified === true,
  };
}
