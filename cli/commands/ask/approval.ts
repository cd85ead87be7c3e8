import type { Additions, CommandContext } from '../../command.ts';
import { readCall } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { aboutEvent, PARKS } from '../../approvals/about-event.ts';
import { ask } from '../../approvals/ask.ts';
import { ENDS, UNTIL_DECIDED } from '../../approvals/options.ts';

export const declaration: Additions = {
  description: `Waits for a person, unless the policy decides right away. Exit code 0 means go ahead: a person approved, or picked one of your options (status modified, choice in \`decision\`). Exit code 5: denied, expired or more context needed. ${ENDS} ${PARKS}`,
  moreOptions: [UNTIL_DECIDED],
  moreExamples: ['ask approval pr.merge "Merge #7" --bind \'{"sha":"3f2a"}\' --park && ./merge.sh'],
  stored: { event_id: 'claimed' },
  seeAlso: ['request status', 'inbox work', 'policy test', 'help exit-codes'],
};

/** `svc ask approval`: waits for the decision. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'ask_approval'>,
): Promise<number> {
  const about = aboutEvent(context);
  return ask(shape, about, await readCall(shape, about), {
    isAsked: ({ kind, action, summary }, input) =>
      kind === 'approval' && action === input.action && summary === input.summary,
  });
}
