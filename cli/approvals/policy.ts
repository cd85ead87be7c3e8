import { isObject } from '../../shared/lib/guards.ts';
import type { Answer } from '../call/answers.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import {
  callFor,
  readCall,
  send,
  type OperationCall,
  type OperationRunner,
} from '../call/operation-command.ts';
import type { OperationShape } from '../call/operation-shape.ts';
import type { PolicyRule as AnsweredRule } from '../../clients/typescript/generated/types.ts';
import type { PolicyRule } from '../../shared/rules/policy/document.ts';
import type { View } from '../view/output.ts';
import type { Look } from '../view/table.ts';
import { warn } from '../view/warnings.ts';

/** Runs an operation that reads a policy and changes nothing. */
export function showingPolicy<N extends 'policy_diff' | 'policy_test'>(
  viewOf: (answer: Answer<N>) => View,
): OperationRunner<N> {
  return async (context, shape) => {
    const answer = await send(context, await readPolicyCall(shape, context));
    context.output.answer(answer, viewOf(answer));
    warn(context, answer);
    return EXIT.done;
  };
}

/** Builds the request. The policy may be an answer of `policy get`. */
export async function readPolicyCall<N extends 'policy_diff' | 'policy_set' | 'policy_test'>(
  shape: OperationShape<N>,
  context: CommandContext,
): Promise<OperationCall<N>> {
  const call = await readCall(shape, context);
  const policy = documentIn(call.input.policy);
  return policy === undefined ? call : callFor(shape, { ...call.input, policy });
}

/** Fields of a `policy get` answer that aren't part of the policy document. */
const TOLD: ReadonlySet<string> = new Set(['version', 'note', 'approved_by', 'approved_at']);

/** Takes the policy out of a `policy get` answer, so that a user can read it, edit it and propose it. */
function documentIn(given: unknown): unknown {
  if (!isObject(given) || !('rules' in given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([name]) => !TOLD.has(name)));
}

/** A rule as answered. An effect that only a newer server knows is shown by its name. */
export function ruleOf(rule: AnsweredRule): PolicyRule {
  return rule as PolicyRule;
}

/** Green allows, red denies, yellow asks. */
export function effectText(effect: string, shown: string, look: Look): string {
  if (effect === 'deny') return look.red(shown);
  return effect === 'require_approval' ? look.yellow(shown) : look.green(shown);
}
