import { isObject } from '../../shared/untyped.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { EXIT } from '../exit.ts';
import { callFor, readCall, type OperationCall } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import type { View } from '../view/output.ts';
import { warn } from '../view/warnings.ts';
import { ask } from './ask.ts';
import { diffView, traceView } from './policy-view.ts';

/** `policy test`: how each rule comes out. */
export function policyTest(shape: OperationShape): CommandModule {
  return { run: (context) => showRead(shape, context, traceView) };
}

/** `policy diff`: what would change, and what the linter says. */
export function policyDiff(shape: OperationShape): CommandModule {
  return { run: (context) => showRead(shape, context, diffView) };
}

async function showRead(
  shape: OperationShape,
  context: CommandContext,
  viewOf: (answer: unknown) => View,
): Promise<number> {
  const { method, path, options } = await readPolicyCall(shape, context);
  const answer = await context.client().call(method, path, { ...options, signal: context.signal });
  context.output.answer(answer, viewOf(answer));
  warn(context, answer);
  return EXIT.done;
}

/** `policy set`: says what would change before it waits, as by then it is too late. */
export function policySet(shape: OperationShape): CommandModule {
  return { run: (context) => propose(shape, context) };
}

async function propose(shape: OperationShape, context: CommandContext): Promise<number> {
  const call = await readPolicyCall(shape, context);
  const { options, output, signal } = context;
  if (options['json'] !== true) {
    const body = { policy: call.input['policy'] };
    const preview = await context.client().call('POST', '/v1/policy/diff', { body, signal });
    if (!output.json) output.redraw((look) => ({ kept: diffLines(preview, look), live: [] }));
    warn(context, preview);
  }
  return ask(shape, context, call);
}

function diffLines(preview: unknown, look: Parameters<NonNullable<View['lines']>>[0]): string[] {
  return [...(diffView(preview).lines?.(look) ?? []), ''];
}

async function readPolicyCall(
  shape: OperationShape,
  context: CommandContext,
): Promise<OperationCall> {
  const call = await readCall(shape, context);
  const policy = documentIn(call.input['policy']);
  return policy === undefined ? call : callFor(shape, { ...call.input, policy });
}

/** What `policy get` tells of a policy beside its rules. */
const TOLD: ReadonlySet<string> = new Set(['version', 'note', 'approved_by', 'approved_at']);

/** An answer of `policy get` stands for its rules, so that what was read can be changed and proposed. */
function documentIn(given: unknown): unknown {
  if (!isObject(given) || !('rules' in given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([name]) => !TOLD.has(name)));
}
