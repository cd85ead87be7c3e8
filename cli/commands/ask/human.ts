import type { Additions, CommandContext } from '../../command.ts';
import { readCall } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { aboutEvent, PARKS } from '../../approvals/about-event.ts';
import { ask } from '../../approvals/ask.ts';
import { ENDS, UNTIL_DECIDED } from '../../approvals/options.ts';

export const declaration: Additions = {
  description: `Waits for an answer. Exit code 0: answered, with the answer in \`decision\` of the JSON. Exit code 5: expired or more context needed. ${ENDS} ${PARKS}`,
  moreOptions: [UNTIL_DECIDED],
  moreExamples: ['ask human "Which region?" --options eu-west,us-east --park'],
  stored: { event_id: 'claimed' },
  seeAlso: ['request status', 'request watch', 'inbox work', 'help exit-codes'],
};

/** `svc ask human`: waits for the answer. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'ask_human'>,
): Promise<number> {
  const about = aboutEvent(context);
  return ask(shape, about, await readCall(shape, about), {
    isAsked: ({ kind, question }, input) => kind === 'question' && question === input.question,
  });
}
