import { isObject } from '../../shared/untyped.ts';
import type { Client } from '../client.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { switchOption } from '../input/option-values.ts';
import { exitOf, type OperationCall } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import { heldAnswer } from '../work/held-call.ts';
import { answerView, nextCommand } from './answer-view.ts';
import type { Asked } from './decision.ts';
import { untilDecided } from './follow.ts';
import { ChannelNames } from './names.ts';
import { Waiting } from './waiting.ts';

/** What a command that asks does in a way of its own. */
interface Manner {
  readonly show: (context: CommandContext, ended: Ended) => Promise<void>;
  /** The answer as it is once the request of a pending one is decided. */
  readonly afterwards: (context: CommandContext, pending: Asked, record: Asked) => Promise<unknown>;
}

/** Asks, waits, says how it ended, and answers with the exit code for it. */
export async function ask(
  shape: OperationShape,
  context: CommandContext,
  call: OperationCall,
  manner: Manner = { show: showDecision, afterwards: withDecision },
): Promise<number> {
  const { output, signal } = context;
  const waiting = new Waiting(context, shape.name, call.input);
  try {
    const deciding = decided(context, call, { waiting, manner });
    const answer = await output.spin(() => waiting.text, deciding);
    if (signal.aborted) throw new Error('Interrupted.');
    await manner.show(context, { shape, call, answer, waiting });
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
  const held = heldAnswer({
    client: context.client(),
    idempotencyKey: context.tries.key,
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
  return record && manner.afterwards(context, answer, record);
}

function awayText({ gateway }: Client): string {
  return gateway
    ? 'The gateway is away. The request stays open, and this waits on.'
    : 'The daemon is away. The request stays open, and this waits on. Start it with: svc up';
}

/** What changes in an answer when a request is decided. */
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

/** What was asked, and how that ended for now. */
export interface Ended {
  readonly shape: OperationShape;
  readonly call: OperationCall;
  readonly answer: unknown;
  readonly waiting: Waiting;
}

async function showDecision(
  context: CommandContext,
  { shape, call, answer, waiting }: Ended,
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
