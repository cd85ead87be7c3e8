import type { Request } from '../call/answers.ts';
import { answeredCode, messageOf } from '../../clients/typescript/core/errors.ts';
import type { Answer, Input } from '../call/answers.ts';
import type { Client } from '../call/client.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { switchOption } from '../input/option-values.ts';
import { exitOf, type OperationCall } from '../call/operation-command.ts';
import type { OperationShape } from '../call/operation-shape.ts';
import { reconnectingAnswer } from '../work/reconnecting-call.ts';
import { ownEvent } from './about-event.ts';
import { answerView, parkedText } from './answer-view.ts';
import type { RequestState } from './decision.ts';
import { untilDecided } from './follow.ts';
import { ChannelNames } from './names.ts';
import { confirmReceived } from './received.ts';
import { PendingRequestFinder } from './pending-request-finder.ts';

/** The operations that may ask a person. */
export type AskingName = 'ask_approval' | 'ask_human' | 'email_send' | 'file_url' | 'policy_set';

/** What differs between the commands that ask a person. */
interface AskOptions<N extends AskingName> {
  /** Whether this request comes from this input. */
  readonly isAsked: (record: Request, input: Input<N>) => boolean;
  readonly show?: (context: CommandContext, result: AskResult<N>) => Promise<void>;
  /** The call's answer after its pending request was decided. */
  readonly afterwards?: (
    context: CommandContext,
    pending: Answer<N>,
    record: Request,
  ) => Promise<Answer<N>>;
  /** The command that continues a pending request (default: watch it). */
  readonly next?: (request: string, result: AskResult<N>) => string;
  /** What an approval means, in a sentence. */
  readonly approved?: string;
}

/** A question and its answer, which may still be pending. */
export interface AskResult<N extends AskingName> {
  readonly shape: OperationShape<N>;
  readonly call: OperationCall<N>;
  /** Null if the wait was interrupted. */
  readonly answer: Answer<N> | null;
  readonly waiting: PendingRequestFinder;
}

/** Asks, waits, prints the result and returns its exit code. */
export async function ask<N extends AskingName>(
  shape: OperationShape<N>,
  context: CommandContext,
  call: OperationCall<N>,
  options: AskOptions<N>,
): Promise<number> {
  const { output, signal } = context;
  const waiting = new PendingRequestFinder(context, (record) =>
    options.isAsked(record, call.input),
  );
  try {
    const deciding = decided(context, call, { waiting, options });
    const answer = await output.spin(() => waiting.text, deciding);
    if (signal.aborted) throw new Error('Interrupted.');
    const result = { shape, call, answer, waiting };
    await (options.show?.(context, result) ?? showDecision(context, result, options));
    await confirmReceived(context, answer);
    return exitOf(answer);
  } catch (error) {
    if (!signal.aborted) throw error;
    if (context.tries.mayBeDone) {
      waiting.tellLeft();
      context.tries.tellOpen('Or repeat the command with:');
    }
    return EXIT.interrupted;
  }
}

async function decided<N extends AskingName>(
  context: CommandContext,
  call: OperationCall<N>,
  { waiting, options }: { readonly waiting: PendingRequestFinder; readonly options: AskOptions<N> },
): Promise<Answer<N> | null> {
  const { output, signal } = context;
  const isLong = keepsWaiting(context, call, options);
  const held = reconnectingAnswer<N>({
    client: context.client(),
    idempotencyKey: context.tries.key,
    request: call,
    isPatient: isLong,
    signal,
    isPending: (known) => isPending(known) && !isParked(known),
    onAway: (error) => output.note(awayText(context.client(), error)),
  });
  const answer = await waiting.during(held);
  const id = pendingId(answer);
  if (!isLong || id === null) return answer;
  waiting.knownAs(id);
  const record = await untilDecided(context, id);
  return record && (options.afterwards?.(context, answer, record) ?? withDecision(answer, record));
}

/** Someone at a terminal waits for the decision, unless they said how long. */
export function keepsWaiting(
  { options, output }: AskCommand,
  { isTimed }: Pick<OperationCall, 'isTimed'>,
  { next }: { readonly next?: unknown },
): boolean {
  if (switchOption({ options }, 'until-decided')) return true;
  const isAtTerminal = output.terminal && !output.json && next === undefined;
  return isAtTerminal && !isTimed && options['park'] !== 'true';
}

/** What was typed, and where. */
interface AskCommand extends Pick<CommandContext, 'options'> {
  readonly output: Pick<CommandContext['output'], 'terminal' | 'json'>;
}

function awayText({ gateway }: Client, error: unknown): string {
  if (answeredCode(error)?.startsWith('HTTP_')) {
    return `${messageOf(error)} svc asks again, under the same idempotency key.`;
  }
  return gateway
    ? "The gateway isn't answering. The request stays open, and svc keeps waiting."
    : "The daemon isn't running. The request stays open, and svc keeps waiting. Start it with: svc up";
}

/** Adds the decision to a pending answer. */
function withDecision<N extends AskingName>(
  pending: Answer<N>,
  { status, decision, comment, hint, reason, decided_by }: Request,
): Answer<N> {
  const known = { status, decision, comment, hint, reason, decided_by };
  return { ...pending, ...known, poll_after_seconds: null };
}

/** The id of the request that an answer waits for; null if it waits for none. */
function pendingId(answer: RequestState | null): string | null {
  return answer?.status === 'pending' ? (answer.request_id ?? null) : null;
}

function isPending(answer: RequestState): boolean {
  return pendingId(answer) !== null;
}

/** Whether an event waits for the answer. */
function isParked(answer: object | null): boolean {
  return answer !== null && 'parked' in answer && answer.parked === true;
}

/** The event that waits for the answer, or null. */
function parkedEvent({ answer, call }: AskResult<AskingName>): string | null {
  return isParked(answer) && 'event_id' in call.input ? (call.input.event_id ?? null) : null;
}

function goOnText(context: CommandContext, event: string): string {
  const isOwn = ownEvent(context).event === event;
  return isOwn
    ? 'your script exits with 6, and svc inbox work runs it again after the decision'
    : `after the decision, svc inbox claim ${event}`;
}

function watchLine(id: string): string {
  return `svc request watch ${id}`;
}

async function showDecision<N extends AskingName>(
  context: CommandContext,
  result: AskResult<N>,
  { next: goOn, approved }: AskOptions<N>,
): Promise<void> {
  const { answer, waiting } = result;
  const { options, output, signal } = context;
  if (answer === null) return output.answer(answer);
  const id = pendingId(answer);
  const parked = parkedEvent(result);
  const next = parked ? goOnText(context, parked) : id && (goOn?.(id, result) ?? watchLine(id));
  if (output.json) {
    output.answer(answer);
    const lead = parked === null ? 'Still pending.' : parkedText(parked);
    if (next !== null && options['json'] !== true) output.note(`${lead} Next: ${next}`);
  } else {
    const names = await new ChannelNames(context.client(), signal).of(answer);
    output.answer(answer, answerView(answer, { approved, names, next, parked }));
  }
  if (id !== null) await waiting.tellWhere(null);
}
