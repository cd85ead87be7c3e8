import type { CallOptions, RunOperation } from './call/place.ts';
import type { Clock } from './core/clock.ts';
import { mayHaveArrived } from './core/errors.ts';
import { RetryingCalls } from './core/retrying-calls.ts';
import { PLACES } from './places.ts';
import type { AskApprovalInput, AskAnswer, AskHumanInput } from './types.ts';

/** What every answer has, whatever became of the question. */
interface Answered {
  readonly request_id: string;
  readonly comment: string | null;
  /** What to do about it. */
  readonly hint: string | null;
  /** `channel:chn_…` or `policy`. */
  readonly decided_by: string | null;
  readonly state_ref: string | null;
  readonly expires_at: string;
}

/** Nobody has said yes, and nobody will: time ran out, or the question was withdrawn. */
export interface Expired extends Answered {
  readonly status: 'expired';
  readonly approved: false;
  readonly decision: null;
}

/** Somebody wants to know more: ask again with details that answer the comment. */
export interface NeedsContext extends Answered {
  readonly status: 'needs_context';
  readonly approved: false;
  readonly decision: null;
}

/** Nobody has decided within `wait`. This isn't a denial. */
export interface Pending extends Answered {
  readonly status: 'pending';
  readonly approved: false;
  readonly decision: null;
}

export interface Approved extends Answered {
  readonly status: 'approved';
  readonly approved: true;
  readonly decision: null;
}

/** Somebody chose one of your options: go ahead with that one. */
export interface Modified extends Answered {
  readonly status: 'modified';
  readonly approved: true;
  readonly decision: string;
}

export interface Denied extends Answered {
  readonly status: 'denied';
  readonly approved: false;
  readonly decision: null;
}

/** The answer to a question, in `decision`. */
export interface HumanAnswer extends Answered {
  readonly status: 'answered';
  readonly decision: string;
}

/** What became of a question that is over. */
export type ApprovalOutcome = Approved | Modified | Denied | Expired | NeedsContext;
export type HumanOutcome = HumanAnswer | Expired | NeedsContext;

type Own = 'event_id' | 'lease_id' | 'park' | 'wait_seconds';

/** How to ask for an approval; see the API's `ask_approval`. */
export type ApprovalFields = Omit<AskApprovalInput, Own | 'action' | 'summary'>;
/** How to ask a question; see the API's `ask_human`. */
export type HumanFields = Omit<AskHumanInput, Own | 'question'>;

interface Waiting extends CallOptions {
  /** How long to wait for the decision, in milliseconds; until there is one by default. With 0 it only asks. */
  readonly wait?: number | undefined;
}

export type ApprovalOptions = Omit<ApprovalFields, 'state'> & Waiting;
export type HumanOptions = Omit<HumanFields, 'state'> & Waiting;

/** Asks people, outside a worker. In a handler, `ctx.ask` parks the event in place of waiting. */
export interface Ask {
  /** Asks people to approve an action, and waits. Go ahead only if `approved`. */
  approval(
    action: string,
    summary: string,
    options?: ApprovalOptions,
  ): Promise<ApprovalOutcome | Pending>;
  /** Asks people a question, and waits for the answer in `decision`. */
  human(question: string, options?: HumanOptions): Promise<HumanOutcome | Pending>;
}

const NEVER = new AbortController().signal;
const HELD_SECONDS = 45;
const LOOK_EVERY_MS = 2000;

/** What `ask` needs. */
export interface AskDeps {
  readonly run: RunOperation;
  readonly clock: Clock;
  readonly note: (text: string) => void;
}

export function askWith(deps: AskDeps): Ask {
  return {
    approval: async (action, summary, options = {}) =>
      outcomeOf(await asked(deps, 'ask_approval', { action, summary }, options)) as
        | ApprovalOutcome
        | Pending,
    human: async (question, options = {}) =>
      outcomeOf(await asked(deps, 'ask_human', { question }, options)) as HumanOutcome | Pending,
  };
}

async function asked(
  deps: AskDeps,
  name: 'ask_approval' | 'ask_human',
  words: object,
  { wait = Infinity, signal, timeout, maxRetries, idempotencyKey, ...fields }: HumanOptions,
): Promise<AskAnswer> {
  const { run, clock, note } = deps;
  const startedAt = clock.now();
  const leftMs = (): number => startedAt + wait - clock.now();
  const key = idempotencyKey ?? crypto.randomUUID();
  const options = { signal, timeout, maxRetries, idempotencyKey: key };
  const input = { ...words, ...fields };
  const ask = (): Promise<AskAnswer> => {
    const wait_seconds = Math.min(HELD_SECONDS, Math.max(0, Math.ceil(leftMs() / 1000)));
    return run<AskAnswer>(PLACES[name], { ...input, wait_seconds }, options);
  };
  const answer = await ask().catch((error: unknown) => {
    // It may have been asked, so somebody may be about to answer.
    if (wait !== Infinity || maxRetries === 0 || !mayHaveArrived(error)) throw error;
    return new RetryingCalls({ signal: signal ?? NEVER, trouble: note, clock }).answer(ask);
  });
  signal?.throwIfAborted();
  if (answer === null) throw new Error('Interrupted.');
  return answer.status === 'pending' && leftMs() > 0
    ? follow(deps, answer, signal, leftMs)
    : answer;
}

/** Looks until somebody has decided. The request stays open whatever happens here, so trouble is sat out. */
async function follow(
  { run, clock, note }: AskDeps,
  pending: AskAnswer,
  signal = NEVER,
  leftMs: () => number,
): Promise<AskAnswer> {
  const calls = new RetryingCalls({ signal, trouble: note, clock });
  const input = { request_id: pending.request_id };
  let answer: AskAnswer | null = pending;
  while (answer?.status === 'pending' && leftMs() > 0) {
    await clock.sleep(Math.min(LOOK_EVERY_MS, leftMs()), signal);
    signal.throwIfAborted();
    answer = await calls.answer(() =>
      run<AskAnswer>(PLACES.request_status, input, { signal, maxRetries: 0 }),
    );
  }
  signal.throwIfAborted();
  return answer ?? pending;
}

/** Adds whether to go ahead. */
export function outcomeOf(answer: AskAnswer): AskAnswer & { approved: boolean } {
  return { ...answer, approved: answer.status === 'approved' || answer.status === 'modified' };
}
