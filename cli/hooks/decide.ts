import { messageOf } from '../../clients/typescript/core/errors.ts';
import { deadline } from '../../shared/lib/deadline.ts';
import { isToldByEvent, sendReceived } from '../approvals/received.ts';
import { reasonOf, type RequestState } from '../approvals/decision.ts';
import { operationRequest, type Client } from '../call/client.ts';
import { reconnectingAnswer } from '../work/reconnecting-call.ts';
import type { Question } from './question.ts';
import { undecided, type Verdict } from './tool-call.ts';

/** A service that doesn't answer within this time leaves the prompt to the client. */
const FIRST_MS = 10_000;
const WITHDRAWAL_MS = 5000;
/** Proxies end calls that are silent for a minute. */
const HELD_SECONDS = 45;
const MARGIN_MS = 15_000;
const MINUTE_MS = 60_000;

const ON_SCREEN = 'the prompt was answered or closed on the screen.';
const TOO_LATE = 'nobody answered in time, so the prompt on the screen decides.';

interface Asking {
  readonly client: Client;
  readonly question: Question;
  readonly waitMs: number;
  /** Aborted when the client no longer wants the answer. */
  readonly signal: AbortSignal;
}

/**
 * The answer of the policy, or else of a person who answers in time. Whatever goes wrong, the prompt stays with the
 * client. When the client no longer wants the answer, or time is up, the question is taken back.
 */
export async function decide(asking: Asking): Promise<Verdict> {
  try {
    return await answered(asking);
  } catch (error) {
    return undecided(`svc couldn't ask anybody: ${messageOf(error)}`);
  }
}

async function answered({ client, question, waitMs, signal }: Asking): Promise<Verdict> {
  const dueAt = performance.now() + waitMs;
  const idempotencyKey = crypto.randomUUID();
  const inputFor = (seconds: number) => ({
    ...question,
    expires_in: spanFor(waitMs),
    wait_seconds: Math.min(seconds, HELD_SECONDS),
  });
  const request = (seconds: number) => {
    const input = inputFor(seconds);
    const { options, ...place } = operationRequest('ask_approval', input);
    const timeoutMs = input.wait_seconds * 1000 + MARGIN_MS;
    return { ...place, options: { ...options, timeoutMs }, seconds };
  };
  const headers = { 'idempotency-key': idempotencyKey };
  // Nothing can be taken back before the request's id is known, so this call isn't cut short.
  const first = { headers, signal: deadline(FIRST_MS), timeoutMs: MARGIN_MS };
  const asked = await client.call('ask_approval', inputFor(0), first);
  if (!isPending(asked)) return verdictOf(asked);
  const seconds = Math.ceil((dueAt - performance.now()) / 1000);
  let answer = asked;
  try {
    answer = await reconnectingAnswer<'ask_approval'>({
      client,
      idempotencyKey,
      request: { ...request(seconds), again: request },
      known: asked,
      isPatient: true,
      signal,
      isPending,
      onAway: () => undefined,
    });
  } catch (error) {
    // Treat an answer that the client no longer wants like no answer.
    if (!signal.aborted) throw error;
  }
  const decision = isPending(answer) ? await takenBack(client, asked.request_id, signal) : answer;
  return decision === null ? undecided(null) : received(client, decision, signal);
}

function isPending({ status }: RequestState): boolean {
  return status === 'pending';
}

/** The request shouldn't outlive whoever waits for it by much, even if they end without a word. */
function spanFor(waitMs: number): string {
  return `${Math.ceil(waitMs / MINUTE_MS) + 1}m`;
}

/** Withdraws the question. If somebody decided it first, returns their answer. */
async function takenBack(
  client: Client,
  id: string,
  unwanted: AbortSignal,
): Promise<RequestState | null> {
  const signal = deadline(WITHDRAWAL_MS);
  const input = { request_id: id, reason: unwanted.aborted ? ON_SCREEN : TOO_LATE };
  const { withdrawn } = await client.call('request_withdraw', input, { signal });
  return withdrawn ? null : client.call('request_status', { request_id: id }, { signal });
}

/**
 * The verdict of a decision. Its event is closed: only this prompt could do anything with it. If the client no longer
 * wants it, whoever decided is told.
 */
async function received(
  client: Client,
  answer: RequestState,
  unwanted: AbortSignal,
): Promise<Verdict> {
  if (!isToldByEvent(answer)) return verdictOf(answer);
  const send = (unused?: string) =>
    sendReceived(client, answer.request_id, deadline(WITHDRAWAL_MS), unused);
  const isUsed = !unwanted.aborted;
  await send(isUsed ? undefined : ON_SCREEN);
  // The client may have changed its mind meanwhile.
  if (isUsed && unwanted.aborted) await send(ON_SCREEN);
  return unwanted.aborted ? undecided(null) : verdictOf(answer);
}

function verdictOf(answer: RequestState): Verdict {
  const { status, comment, decided_by: by } = answer;
  const said = comment ? `: ${comment}` : '.';
  const [, rule] = /^policy:(.*)$/s.exec(by ?? '') ?? [];
  switch (status) {
    case 'approved':
      return { kind: 'allow' };
    case 'denied': {
      if (reasonOf(answer) === 'stopped') {
        return { kind: 'deny', message: `A person stopped this session${said}`, isStop: true };
      }
      const who =
        rule === undefined
          ? `A person denied this${said}`
          : `The policy denies this (rule ${rule}).`;
      return { kind: 'deny', message: who, isStop: false };
    }
    case 'needs_context': {
      const message = `A person wants to know more first${said}`;
      return { kind: 'deny', message, isStop: false };
    }
    default:
      return undecided(null);
  }
}
