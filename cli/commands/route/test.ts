import { isObject } from '../../../shared/untyped.ts';
import type { CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { routeTestedView } from '../../people/route-view.ts';

/** A receiver that does not take the sample is a failure, for scripts too. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, routeTestedView(answer));
  return isObject(answer) && answer['delivered'] === false ? EXIT.refused : EXIT.done;
}
