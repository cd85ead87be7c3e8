import type { Additions, CommandContext } from '../../command.ts';
import { diffLines } from './diff.ts';
import type { OperationCall } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { ask } from '../../approvals/ask.ts';
import { ENDS, UNTIL_DECIDED } from '../../approvals/options.ts';
import { readPolicyCall } from '../../approvals/policy.ts';
import { warn } from '../../view/warnings.ts';

export const declaration: Additions = {
  description: `Shows the changes and any rules that can never match, then waits for a person to approve. Exit code 0: approved, and the new policy is in force. You can edit the output of \`policy get\` and pass it back whole. Exit code 5: denied, expired or more context needed. ${ENDS}`,
  moreOptions: [UNTIL_DECIDED],
  seeAlso: ['policy diff', 'policy test', 'policy get'],
};

/** `svc policy set`: shows the changes before it waits for approval, because afterwards it's too late. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'policy_set'>,
): Promise<number> {
  return proposePolicy(context, shape, await readPolicyCall(shape, context));
}

/** Shows the changes, then asks for them. */
export async function proposePolicy(
  context: CommandContext,
  shape: OperationShape<'policy_set'>,
  call: OperationCall<'policy_set'>,
): Promise<number> {
  const { options, output, signal } = context;
  if (options['json'] !== true) {
    const { policy } = call.input;
    const preview = await context.client().call('policy_diff', { policy }, { signal });
    if (!output.json) {
      output.redraw((look) => ({ kept: [...diffLines(preview, look), ''], live: [] }));
    }
    warn(context, preview);
  }
  return ask(shape, context, call, {
    isAsked: ({ kind }) => kind === 'policy',
    approved: 'The new policy is in force. See it with: svc policy get',
  });
}
