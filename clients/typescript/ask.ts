import type { CallOptions, Endpoint, RunOperation } from './call/endpoint.ts';
import type { Clock } from './core/clock.ts';
import { isCut } from './core/errors.ts';
import { RetryingCalls } from './core/retrying-calls.ts';
import { ENDPOINTS } from './generated/endpoints.ts';
import type { AskApprovalInput, AskAnswer, AskHumanInput } from './generated/types.ts';

/** What every answer has, whatever became of the question. */
interface AnswerBase {
  readonly request_id: string;
  readonly comment: string | null;
  /** What to do about it. */
  readonly hint: string | null;
  /** `channel:chn_…` or `policy`. */
  readonly decided_by: string | null;
  readonly state_ref: string | null;
  readonly expires_at: string;
}

/** Nobody said yes and nobody will: time ran out, or the question was withdrawn. */
export interface Expired extends AnswerBase {
  readonly status: 'expired';
  readonly decision: null;
}

/** Somebody wants to know more: ask again with details that answer the comment. */
export interface NeedsContext extends AnswerBase {
  readonly status: 'needs_context';
  readonly decision: null;
}

/** Nobody has decided within `wait`, or yet. This isn't a denial. */
export interface Pending extends AnswerBase {
  readonly status: 'pending';
  readonly decision: null;
}

interface Yes extends AnswerBase {
  readonly approved: true;
  /** The values that the approval is good for, if the question had any. */
  readonly bind?: unknown;
}

export interface Approved extends Yes {
  readonly status: 'approved';
  readonly decision: null;
}

/** Somebody chose one of your options: go ahead with that one. */
export interface Modified extends Yes {
  readonly status: 'modified';
  readonly decision: string;
}

export interface Denied extends AnswerBase {
  readonly status: 'denied';
  readonly decision: null;
}

/** The answer to a question, in `decision`. */
export interface HumanAnswer extends AnswerBase {
  readonly status: 'answered';
  readonly decision: string;
}

/** Somebody, or the policy, said yes. */
export type Approval = Approved | Modified;

/**
 * Nobody approved: `answer.status` is `denied`, `expired`, `needs_context` or `pending`. In a handler, let it pass: the
 * event is done then, with the status and the comment as its result.
 */
export class NotApproved extends Error {
  override readonly name = 'NotApproved';
  readonly answer: Denied | Expired | NeedsContext | Pending;

  constructor(answer: Denied | Expired | NeedsContext | Pending) {
    super(textOf('Not approved', answer));
    this.answer = answer;
  }
}

/** Nobody answered the question: `answer.status` is `expired`, `needs_context` or `pending`. */
export class NotAnswered extends Error {
  override readonly name = 'NotAnswered';
  readonly answer: Expired | NeedsContext | Pending;

  constructor(answer: Expired | NeedsContext | Pending) {
    super(textOf('Not answered', answer));
    this.answer = answer;
  }
}

function textOf(
  what: string,
  { status, comment }: AnswerBase & { readonly status: string },
): string {
  return comment === null ? `${what}: ${status}.` : `${what}: ${status}. ${comment}`;
}

type Own = 'event_id' | 'lease_id' | 'park' | 'wait_seconds';

/** How to ask for an approval; see the API's `ask_approval`. */
export type ApprovalFields = Omit<AskApprovalInput, Own | 'action' | 'summary'>;
/** How to ask a question; see the API's `ask_human`. */
export type HumanFields = Omit<AskHumanInput, Own | 'question'>;

interface WaitOptions extends CallOptions {
  /**
   * How long to wait for the decision, in milliseconds; until there is one by default. When the time is up, the answer
   * of what is thrown is `pending`. With 0 it only asks.
   */
  readonly wait?: number | undefined;
}

export type ApprovalOptions = Omit<ApprovalFields, 'state'> & WaitOptions;
export type HumanOptions = Omit<HumanFields, 'state'> & WaitOptions;

/** Asks people, outside a worker. In a handler, `ctx.ask` parks the event in place of waiting. */
export interface Ask {
  /** Asks people to approve an action, and waits. Returns only a yes, and throws `NotApproved` otherwise. */
  approval(action: string, summary: string, options?: ApprovalOptions): Promise<Approval>;
  /** Asks people a question, and waits for the answer in `decision`. Without one it throws `NotAnswered`. */
  human(question: string, options?: HumanOptions): Promise<HumanAnswer>;
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
      approvalOf(await asked(deps, 'ask_approval', { action, summary }, options), options.bind),
    human: async (question, options = {}) =>
      answerOf(await asked(deps, 'ask_human', { question }, options)),
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
    return run<AskAnswer>(ENDPOINTS[name], { ...input, wait_seconds }, options);
  };
  const answer = await ask().catch((error: unknown) => {
    // It may have been asked, so somebody may be about to answer; surely if the server held the call for a while.
    const wasHeld = clock.now() - startedAt >= HELD_SECONDS * 1000;
    if (wait !== Infinity || maxRetries === 0 || !isCut(error, wasHeld)) throw error;
    return new RetryingCalls({ signal: signal ?? NEVER, trouble: note, clock }).answer(ask);
  });
  signal?.throwIfAborted();
  if (answer === null) throw new Error('Interrupted.');
  const isOpen = answer.status === 'pending' && leftMs() > 0;
  const last = isOpen ? await follow(deps, answer, signal, leftMs) : answer;
  if (isToldByEvent(last)) await confirmReceived(deps, last.request_id, signal);
  return last;
}

/** An operation that may ask people: once its answer is here, the event that tells of their decision is done. */
export async function confirmed<T>(
  deps: AskDeps,
  place: Endpoint,
  input: object,
  options: CallOptions = {},
): Promise<T> {
  const answer = await deps.run<T & Partial<AskAnswer>>(place, input, options);
  const { request_id: id } = answer;
  if (typeof id === 'string' && isToldByEvent(answer))
    await confirmReceived(deps, id, options.signal);
  return answer;
}

/** If the policy decided at once, the event is done from the start. */
function isToldByEvent({ status, decided_by: by }: Partial<AskAnswer>): boolean {
  return status !== 'pending' && by?.startsWith('policy:') !== true;
}

const CONFIRM_MS = 5000;

/** Closes the event that tells of the decision. The caller has its answer, so nothing that goes wrong here matters. */
async function confirmReceived(
  { run }: AskDeps,
  request_id: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const options = { signal, maxRetries: 0, timeout: CONFIRM_MS };
  await run(ENDPOINTS.request_received, { request_id }, options).catch(() => undefined);
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
      run<AskAnswer>(ENDPOINTS.request_status, input, { signal, maxRetries: 0 }),
    );
  }
  signal.throwIfAborted();
  return answer ?? pending;
}

/** A yes, or `NotApproved`: also for a status that only a newer server knows. */
export function approvalOf(answer: AskAnswer, bind: unknown): Approval {
  const approved = answer.status === 'approved' || answer.status === 'modified';
  if (!approved) throw new NotApproved(answer as NotApproved['answer']);
  return { ...answer, approved, ...(bind !== undefined && { bind }) } as Approval;
}

/** The answer to a question, or `NotAnswered`. */
export function answerOf(answer: AskAnswer): HumanAnswer {
  if (answer.status === 'answered') return answer as HumanAnswer;
  throw new NotAnswered(answer as NotAnswered['answer']);
}
