import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { callFor, readCall, type OperationCall, type OperationRun } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import type { View } from '../view/output.ts';
import type { Look } from '../view/table.ts';
import { warn } from '../view/warnings.ts';

/** Runs an operation that reads a policy and changes nothing. */
export function showingPolicy(viewOf: (answer: unknown) => View): OperationRun {
  return async (context, shape) => {
    const { method, path, options } = await readPolicyCall(shape, context);
    const { output, signal } = context;
    const answer = await context.client().call(method, path, { ...options, signal });
    output.answer(answer, viewOf(answer));
    warn(context, answer);
    return EXIT.done;
  };
}

/** Builds the request. The policy may be an answer of `policy get`. */
export async function readPolicyCall(
  shape: OperationShape,
  context: CommandContext,
): Promise<OperationCall> {
  const call = await readCall(shape, context);
  const policy = documentIn(call.input['policy']);
  return policy === undefined ? call : callFor(shape, { ...call.input, policy });
}

/** Fields of a `policy get` answer that aren't part of the policy document. */
const TOLD: ReadonlySet<string> = new Set(['version', 'note', 'approved_by', 'approved_at']);

/** Takes the policy out of a `policy get` answer, so that a user can read it, edit it and propose it. */
function documentIn(given: unknown): unknown {
  if (!isObject(given) || !('rules' in given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([name]) => !TOLD.has(name)));
}

/** Green allows, red denies, yellow asks. */
export function effectText(effect: string, shown: string, look: Look): string {
  if (effect === 'deny') return look.red(shown);
  return effect === 'require_approval' ? look.yellow(shown) : look.green(shown);
}
