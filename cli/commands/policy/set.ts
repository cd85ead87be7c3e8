import type { Additions, CommandContext } from '../../command.ts';
import { diffView } from './diff.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { ask } from '../../approvals/ask.ts';
import { ENDS, UNTIL_DECIDED } from '../../approvals/options.ts';
import { readPolicyCall } from '../../approvals/policy.ts';
import type { View } from '../../view/output.ts';
import { warn } from '../../view/warnings.ts';

export const declaration: Additions = {
  description: `Shows what would change and what can never decide, then waits for a person; once approved, the document replaces the one that holds: exit code 0. What \`policy get\` prints can be changed and given back whole. Denied, expired or more context needed: 5. ${ENDS}`,
  moreOptions: [UNTIL_DECIDED],
  seeAlso: ['policy diff', 'policy test', 'policy get'],
};

/** `svc policy set`: says what would change before it waits, as by then it is too late. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const call = await readPolicyCall(shape, context);
  const { options, output, signal } = context;
  if (options['json'] !== true) {
    const body = { policy: call.input['policy'] };
    const preview = await context.client().call('POST', '/v1/policy/diff', { body, signal });
    if (!output.json) output.redraw((look) => ({ kept: diffLines(preview, look), live: [] }));
    warn(context, preview);
  }
  return ask(shape, context, call, {
    isAsked: (record) => record['kind'] === 'policy',
    approved: 'The policy holds from now on. See it with: svc policy get',
  });
}

function diffLines(preview: unknown, look: Parameters<NonNullable<View['lines']>>[0]): string[] {
  return [...(diffView(preview).lines?.(look) ?? []), ''];
}
