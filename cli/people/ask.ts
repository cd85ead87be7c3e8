import { isObject } from '../../shared/untyped.ts';
import type { Client } from '../client.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { EXIT } from '../exit.ts';
import { switchOption } from '../input/option-values.ts';
import { exitOf, readCall, type OperationCall } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import { heldAnswer } from '../work/held-call.ts';
import { answerView, nextCommand } from './answer-view.ts';
import type { Asked } from './decision.ts';
import { untilDecided } from './follow.ts';
import { ChannelNames } from './names.ts';
import { Waiting } from './waiting.ts';

/** A command that may ask a person, and waits for the decision. */
export function askPeople(shape: OperationShape): CommandModule {
  return { run: async (context) => ask(shape, context, await readCall(shape, context)) };
}

/** Asks, waits, says how it ended, and answers with the exit code for it. */
export async function ask(
  shape: OperationShape,
  context: CommandContext,
  call: OperationCall,
): Promise<number> {
  const { output, signal } = context;
  const waiting = new Waiting(context, shape.name, call.input);
  try {
    const deciding = decided(context, call, waiting);
    const answer = await output.spin(() => waiting.text, deciding);
    if (signal.aborted) throw new Error('Interrupted.');
    await show(shape, context, { call, answer, waiting });
    return exitOf(answer);
  } catch (error) {
    if (!signal.aborted) throw error;
    waiting.tellLeft();
    return EXIT.interrupted;
  }
}

async function decided(
  context: CommandContext,
  call: OperationCall,
  waiting: Waiting,
): Promise<unknown> {
  const { output, signal } = context;
  const held = heldAnswer({
    client: context.client(),
    call,
    signal,
    isPending,
    onAway: () => output.note(awayText(context.client())),
  });
  const answer = await waiting.during(held);
  const isLong = switchOption(context, 'until-decided');
  if (!isLong || !isPending(answer)) return answer;
  waiting.knownAs(String(answer['request_id']));
  const record = await untilDecided(context, String(answer['request_id']));
  return record && { ...answer, ...decisionOf(record) };
}

function awayText({ gateway }: Client): string {
  return gateway
    ? 'The gateway is away. The request stays open, and this waits on.'
    : 'The daemon is away. The request stays open, and this waits on. Start it with: svc up';
}

/** What changes in an answer when a request is decided. */
function decisionOf({ status, decision, comment, hint, decided_by }: Asked): Asked {
  return { status, decision, comment, hint, decided_by, poll_after_seconds: null };
}

function isPending(answer: unknown): answer is Record<string, unknown> {
  return isObject(answer) && answer['status'] === 'pending' && 'request_id' in answer;
}

interface Ended {
  readonly call: OperationCall;
  readonly answer: unknown;
  readonly waiting: Waiting;
}

async function show(
  shape: OperationShape,
  context: CommandContext,
  { call, answer, waiting }: Ended,
): Promise<void> {
  const { options, output, signal } = context;
  if (!isObject(answer)) return output.answer(answer);
  const next = nextCommand(shape, call, answer);
  if (output.json) {
    output.answer(answer);
    if (next !== null && options['json'] !== true) output.note(`Still pending. Next: ${next}`);
  } else {
    const names = await new ChannelNames(context.client(), signal).of(answer);
    output.answer(answer, answerView(answer, { operation: shape.name, names, next }));
  }
  if (isPending(answer)) await waiting.tellWhere(null);
}
