import { isObject } from '../../shared/lib/guards.ts';
import { answeredCode, messageOf } from '../../clients/typescript/core/errors.ts';
import type { Client } from '../client.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { switchOption } from '../input/option-values.ts';
import { exitOf, type OperationCall } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import { reconnectingAnswer } from '../work/reconnecting-call.ts';
import { ownEvent } from './about-event.ts';
import { answerView, parkedText } from './answer-view.ts';
import type { Asked } from './decision.ts';
import { untilDecided } from './follow.ts';
import { ChannelNames } from './names.ts';
import { confirmReceived } from './received.ts';
import { Waiting } from './waiting.ts';

/** What differs between the commands that ask a person. */
interface Manner {
  /** Whether this request comes from this input. */
  readonly isAsked: (record: Asked, input: Asked) => boolean;
  readonly show?: (context: CommandContext, ended: Ended) => Promise<void>;
  /** The call's answer after its pending request was decided. */
  readonly afterwards?: (
    context: CommandContext,
    pending: Asked,
    record: Asked,
  ) => Promise<unknown>;
  /** The command that continues a pending request (default: watch it). */
  readonly next?: (request: string, ended: Ended) => string;
  /** What an approval means, in a sentence. */
  readonly approved?: string;
}

/** Asks, waits, prints the result and returns its exit code. */
export async function ask(
  shape: OperationShape,
  context: CommandContext,
  call: OperationCall,
  manner: Manner,
): Promise<number> {
  const { output, signal } = context;
  const waiting = new Waiting(context, (record) => manner.isAsked(record, call.input));
  try {
    const deciding = decided(context, call, { waiting, manner });
    const answer = await output.spin(() => waiting.text, deciding);
    if (signal.aborted) throw new Error('Interrupted.');
    const ended = { shape, call, answer, waiting };
    await (manner.show?.(context, ended) ?? showDecision(context, ended, manner));
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

async function decided(
  context: CommandContext,
  call: OperationCall,
  { waiting, manner }: { readonly waiting: Waiting; readonly manner: Manner },
): Promise<unknown> {
  const { output, signal } = context;
  const isLong = keepsWaiting(context, call, manner);
  const held = reconnectingAnswer({
    client: context.client(),
    idempotencyKey: context.tries.key,
    request: call,
    isPatient: isLong,
    signal,
    isPending: (known) => isPending(known) && known['parked'] !== true,
    onAway: (error) => output.note(awayText(context.client(), error)),
  });
  const answer = await waiting.during(held);
  if (!isLong || !isPending(answer)) return answer;
  waiting.knownAs(String(answer['request_id']));
  const record = await untilDecided(context, String(answer['request_id']));
  return record && (manner.afterwards ?? withDecision)(context, answer, record);
}

/** Someone at a terminal waits for the decision, unless they said how long. */
export function keepsWaiting(
  { options, output }: Typed,
  { isTimed }: Pick<OperationCall, 'isTimed'>,
  { next }: Pick<Manner, 'next'>,
): boolean {
  if (switchOption({ options }, 'until-decided')) return true;
  const isAtTerminal = output.terminal && !output.json && next === undefined;
  return isAtTerminal && !isTimed && options['park'] !== 'true';
}

/** What was typed, and where. */
interface Typed extends Pick<CommandContext, 'options'> {
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
function withDecision(
  _context: CommandContext,
  pending: Asked,
  { status, decision, comment, hint, decided_by }: Asked,
): Promise<Asked> {
  const known = { status, decision, comment, hint, decided_by, poll_after_seconds: null };
  return Promise.resolve({ ...pending, ...known });
}

function isPending(answer: unknown): answer is Record<string, unknown> {
  return isObject(answer) && answer['status'] === 'pending' && 'request_id' in answer;
}

/** A question and its answer, which may still be pending. */
export interface Ended {
  readonly shape: OperationShape;
  readonly call: OperationCall;
  readonly answer: unknown;
  readonly waiting: Waiting;
}

/** The event that waits for the answer, or null. */
function parkedEvent({ answer, call }: Ended): string | null {
  return isObject(answer) && answer['parked'] === true ? String(call.input['event_id']) : null;
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

async function showDecision(
  context: CommandContext,
  ended: Ended,
  { next: goOn, approved }: Manner,
): Promise<void> {
  const { answer, waiting } = ended;
  const { options, output, signal } = context;
  if (!isObject(answer)) return output.answer(answer);
  const id = isPending(answer) ? String(answer['request_id']) : null;
  const parked = parkedEvent(ended);
  const next = parked ? goOnText(context, parked) : id && (goOn?.(id, ended) ?? watchLine(id));
  if (output.json) {
    output.answer(answer);
    const lead = parked === null ? 'Still pending.' : parkedText(parked);
    if (next !== null && options['json'] !== true) output.note(`${lead} Next: ${next}`);
  } else {
    const names = await new ChannelNames(context.client(), signal).of(answer);
    output.answer(answer, answerView(answer, { approved, names, next, parked }));
  }
  if (isPending(answer)) await waiting.tellWhere(null);
}
