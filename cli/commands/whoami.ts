import type { Additions, CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { callOperation } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import { whoamiView } from '../view/whoami.ts';

export const declaration: Additions = {
  seeAlso: ['key list', 'auth token', 'project list'],
};

/** `whoami`, in a few lines where a person reads it. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, whoamiView(answer));
  return EXIT.done;
}
