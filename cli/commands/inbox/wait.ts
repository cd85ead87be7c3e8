import type { Additions, CommandContext } from '../../command.ts';
import { runOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { eventView } from '../../view/events.ts';
import { checkSource } from '../../work/source-check.ts';

export const declaration: Additions = {
  seeAlso: ['inbox claim', 'inbox work', 'listen', 'help exit-codes'],
};

/** `svc inbox wait`: says at once if the source it waits for doesn't exist. */
export function run(context: CommandContext, shape: OperationShape): Promise<number> {
  void checkSource(context);
  return runOperation(shape, context, eventView);
}
