import type { Additions, CommandContext } from '../../command.ts';
import { runOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { eventListView } from '../../view/events.ts';
import { checkSource } from '../../work/source-check.ts';

export const declaration: Additions = {
  seeAlso: ['inbox ack', 'inbox nack', 'inbox wait', 'inbox work', 'help exit-codes'],
};

/** `svc inbox next`: says at once if the source it waits for doesn't exist. */
export function run(context: CommandContext, shape: OperationShape): Promise<number> {
  void checkSource(context);
  return runOperation(shape, context, eventListView);
}
