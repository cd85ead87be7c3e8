import type { RunOperation } from '../call/endpoint.ts';
import type { Caller } from '../core/caller.ts';
import { claimLoop } from '../core/claim-loop.ts';
import type { Clock } from '../core/clock.ts';
import { messageOf, SvcError } from '../core/errors.ts';
import type { EventFilter, FeedEvent } from '../core/event-feed.ts';
import type { CloseResult, Lease, Verdict } from '../core/lease.ts';
import { NotAnswered, NotApproved } from '../ask.ts';
import { HandlerContext, type WorkContext, type WorkEvent } from './context.ts';
import { refuseUnknown } from './filter.ts';
import { interrupts, type Interrupts } from './interrupts.ts';
import { isPermanent, type Parked } from './parked.ts';
import { checked, type PayloadSchema } from './payload.ts';
import { progress } from './progress.ts';

/** How an event ended; see `outcome`. */
export interface Finished extends CloseResult {
  readonly event: WorkEvent;
  /** What the handler threw, unless it was that nobody approved or answered. */
  readonly error?: unknown;
}

/**
 * Handles one event. What it returns is the ack's result, up to 4 KB of JSON. If it throws, the event is tried again
 * later, and is dead after the fifth time; a `Permanent` error makes it dead at once. If nobody approved what it asked
 * for, the event is done, with the answer as the result.
 */
export type Handler<P = unknown> = (event: WorkEvent<P>, context: WorkContext) => unknown;

/** How a worker works. */
export interface WorkOptions<P = unknown> {
  /** What payloads have to be: a schema of zod, valibot, arktype and so on. An event that doesn't fit is dead at once. */
  readonly payload?: PayloadSchema<P> | undefined;
  /** How many events are handled at once (default 1). */
  readonly concurrency?: number | undefined;
  /** How long a claim lasts without a beat, 30 to 3600 (default 300). */
  readonly leaseSeconds?: number | undefined;
  /** How often a claim is extended while its handler runs (default: half the lease). */
  readonly beatSeconds?: number | undefined;
  /** Stops the worker: it claims no more events, and ends when its handlers have. */
  readonly signal?: AbortSignal | undefined;
  /** Stops it at once: fires the handlers' signals, and gives back the events of those that throw, uncounted. */
  readonly hardStop?: AbortSignal | undefined;
  /** Stop after this many events. */
  readonly max?: number | undefined;
  /** Stop when no events are pending. */
  readonly drain?: boolean | undefined;
  /** Called when an event ended. Without it, what a handler throws goes to `note`. */
  readonly onFinished?: ((finished: Finished) => void) | undefined;
  /** Gets a line for what the worker does (default: standard error if it's a terminal, otherwise nobody). */
  readonly log?: ((line: string) => void) | undefined;
  /**
   * Ctrl-C and SIGTERM stop the worker: the first lets its handlers finish; the second fires their signals, gives their
   * events back uncounted, and ends the program (default: true).
   */
  readonly handleSignals?: boolean | undefined;
}

interface Deps {
  readonly caller: Caller;
  readonly run: RunOperation;
  readonly clock: Clock;
  /** Tells a person. */
  readonly note: (text: string) => void;
}

const NEVER = new AbortController().signal;
const FILTER_KEYS = ['source', 'type', 'mine'];
const NO_INTERRUPTS: Interrupts = { first: NEVER, second: NEVER, late: NEVER, release: () => {} };

/** Claims events and hands each to the handler, until it's stopped. Sits out outages; throws refusals. */
export function work<P>(
  deps: Deps,
  filter: EventFilter,
  handler: Handler<P>,
  options: WorkOptions<P> = {},
): Promise<void> {
  const { concurrency = 1, leaseSeconds = 300, signal = NEVER, hardStop = NEVER } = options;
  const { beatSeconds = leaseSeconds / 2, max = Infinity, drain = false } = options;
  refuseUnknown(filter, FILTER_KEYS);
  refuseMisfits({ concurrency, leaseSeconds, beatSeconds });
  const say = progress(options.log);
  const stops = options.handleSignals === false ? NO_INTERRUPTS : interrupts();
  const kill = AbortSignal.any([hardStop, stops.second]);
  const common = { client: deps.caller, clock: deps.clock, note: deps.note, kill };
  say.waiting(filter);
  return claimLoop({
    ...filter,
    ...common,
    concurrency,
    leaseSeconds,
    beatSeconds,
    strict: true,
    max,
    drain,
    signal: AbortSignal.any([signal, kill, stops.first]),
    onStopping: say.stopping,
    run: async (event, lease) => {
      say.claimed(event);
      const claimed = { event, lease, kill, late: stops.late, schema: options.payload };
      const finished = await handled(deps, handler as Handler, claimed);
      const isNoted = !options.onFinished && isFailure(finished);
      // A terminal need not show it twice.
      if (!isNoted || options.log) say.finished(finished);
      if (isNoted) deps.note(failureText(finished));
      options.onFinished?.(finished);
    },
  }).finally(stops.release);
}

function refuseMisfits(given: {
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly beatSeconds: number;
}): void {
  const { concurrency, leaseSeconds, beatSeconds } = given;
  if (!(leaseSeconds >= 30 && leaseSeconds <= 3600)) throw usage('leaseSeconds is 30 to 3600.');
  if (!(beatSeconds > 0 && beatSeconds < leaseSeconds)) {
    throw usage(
      `beatSeconds (${beatSeconds}) has to be shorter than the lease (${leaseSeconds} s).`,
    );
  }
  if (!(concurrency >= 1)) throw usage('concurrency is 1 or more.');
}

function usage(message: string): SvcError {
  return new SvcError({ code: 'USAGE', message });
}

interface ClaimedWork {
  readonly event: FeedEvent;
  readonly lease: Lease;
  readonly kill: AbortSignal;
  /** Fires when nobody waits for the handler any longer. */
  readonly late: AbortSignal;
  readonly schema: PayloadSchema | undefined;
}

async function handled(deps: Deps, handler: Handler, claimed: ClaimedWork): Promise<Finished> {
  const event = claimed.event as unknown as WorkEvent;
  const { lease, kill, late, schema } = claimed;
  const run = new HandlerContext({ event, lease, run: deps.run, kill });
  let error: unknown;
  let decided: Verdict;
  try {
    const payload = schema ? await checked(schema, event) : event.payload;
    const result = await unless(late, handler({ ...event, payload }, run));
    decided = { ack: true, ...(result !== undefined && { result }), ...run.spent };
    if (run.parked) deps.note(swallowed(run.parked, 'returned'));
  } catch (thrown) {
    error = isNo(thrown) ? undefined : thrown;
    if (run.parked && !isCausedBy(thrown, run.parked)) deps.note(swallowed(run.parked, 'threw'));
    decided = isNo(thrown) ? doneWith(thrown, run) : verdictOf(thrown, kill.aborted);
  }
  const failed = error === undefined ? {} : { error };
  if (run.parked) return { event, ...(await parkedOutcome(lease)) };
  return { event, ...(await closed(lease, decided)), ...failed };
}

/** What the handler returns, or a rejection when the signal fires first. */
function unless(signal: AbortSignal, handling: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', end, { once: true });
    void Promise.resolve(handling)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', end));
  });
}

function isFailure({ error, outcome }: Finished): boolean {
  return error !== undefined && outcome !== 'returned';
}

/** Without an `onFinished`, nobody else would learn of it. */
function failureText({ event, error, outcome, retry_at }: Finished): string {
  const text = error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error);
  const next = retry_at === null ? `It's ${outcome}.` : `It's tried again at ${retry_at}.`;
  return `The handler of ${event.id} (${event.type}) failed. ${next}\n${text}`;
}

/** The event is parked, whatever the handler did afterwards. */
async function parkedOutcome(lease: Lease): Promise<CloseResult> {
  const found = await lease.parked(true);
  return found ?? { outcome: 'parked', attempts: null, retry_at: null };
}

function swallowed({ eventId, waitsFor }: Parked, how: string): string {
  return (
    `${eventId} is parked until ${waitsFor.join(', ')}, but its handler went on and ${how}. ` +
    'The event stays parked, and what the handler did after `ctx.ask` is not recorded. ' +
    'Let `Parked` pass through every `catch`.'
  );
}

function isCausedBy(error: unknown, parked: Parked): boolean {
  if (error === parked) return true;
  return error instanceof Error && error.cause !== undefined && isCausedBy(error.cause, parked);
}

/** Whether the handler ended because nobody approved or answered. */
function isNo(error: unknown): error is NotApproved | NotAnswered {
  return error instanceof NotApproved || error instanceof NotAnswered;
}

/** The event is done. An approval that the handler marked before counts as used. */
function doneWith(
  { answer: { status, comment } }: NotApproved | NotAnswered,
  { spent }: HandlerContext,
): Verdict {
  return { ack: true, result: { status, comment }, ...spent };
}

function verdictOf(error: unknown, isKilled: boolean): Verdict {
  const reason = reasonOf(error);
  if (isKilled) return { ack: false, reason, retry: true, until: ['now'] };
  return { ack: false, reason, retry: !isPermanent(error) };
}

function reasonOf(error: unknown): string {
  const code = error instanceof SvcError ? `${error.code}: ` : '';
  return code + messageOf(error) || 'The handler failed.';
}

/** A refused ack leaves a trace: the event is dead, with the refusal as its reason. */
async function closed(lease: Lease, decided: Verdict): Promise<CloseResult> {
  try {
    return await lease.close(decided);
  } catch (error) {
    if (!decided.ack || !(error instanceof SvcError) || isAboutKey(error)) throw error;
    return lease.close({
      ack: false,
      reason: `The ack was refused: ${reasonOf(error)}`,
      retry: false,
    });
  }
}

function isAboutKey({ status }: SvcError): boolean {
  return status === 401 || status === 403;
}
