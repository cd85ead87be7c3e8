import type { Answer } from '../../call/answers.ts';
import { newSourceSecret, type NewSecret } from '../../../shared/rules/inbox/source-setup.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { askerOf } from '../../input/asker.ts';
import { chosenSender } from '../../input/sender-choice.ts';
import { callOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { setupLines, setupNotes } from '../../view/source-steps.ts';
import type { View } from '../../view/output.ts';
import { readableView } from '../../view/view.ts';

export const declaration: Additions = {
  description:
    'Prints the URL to give to the sender, and how to set the sender up. Without --verification, a terminal asks who sends, with a search. Without --secret, svc makes one where you may choose it, and shows it once; other senders make their own: store it later with svc source rotate. An email source has an address instead; a project has at most one.',
  seeAlso: ['trigger', 'source get', 'source list', 'inbox wait'],
};

/** `svc source add`: the source, then how to connect its sender. */
export async function run(
  given: CommandContext,
  shape: OperationShape<'source_add'>,
): Promise<number> {
  const context = { ...given, options: await withSender(given) };
  return add(context, shape);
}

/** Without `--verification`, a person in a terminal is asked who sends. */
async function withSender(context: CommandContext): Promise<CommandContext['options']> {
  const { options } = context;
  const isOpen = options['verification'] === undefined && options['type'] !== 'email';
  const asker = isOpen ? askerOf(context) : null;
  if (asker === null) return options;
  try {
    return { ...options, verification: await chosenSender(asker) };
  } finally {
    asker.close();
  }
}

async function add(context: CommandContext, shape: OperationShape<'source_add'>): Promise<number> {
  const { verification, secret: given } = context.options;
  const { output } = context;
  const made = given === undefined ? newSourceSecret(verification) : null;
  const isGiven = given !== undefined;
  const options = made === null ? context.options : { ...context.options, secret: made };
  const source = await callOperation(shape, { ...context, options });
  const shown = made === null ? source : { ...source, secret: made };
  output.answer(shown, viewOf(source, { made, isGiven }));
  if (output.json && context.options['json'] !== true) {
    // Standard error may be a log, so the secret stays in the answer.
    const secret = { made: made && 'the `secret` above', isGiven };
    for (const line of setupNotes(source, secret)) output.note(line);
  }
  return EXIT.done;
}

function viewOf(source: Answer<'source_add'>, secret: NewSecret): View {
  return {
    lines: (look) => [...readableView(source, {}, look), '', ...setupLines(source, look, secret)],
  };
}
