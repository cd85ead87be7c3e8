import type { Additions, CommandContext } from '../../command.ts';
import { runOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { giveBackIfLost } from '../../work/give-back.ts';
import { detailOf, HEADERS } from '../../work/whole-event.ts';

export const declaration: Additions = {
  stored: { event_id: 'pending' },
  moreOptions: [HEADERS],
  seeAlso: ['inbox ack', 'inbox nack', 'inbox extend', 'inbox work'],
};

/** `svc inbox claim`: what the event is about, and how to finish it. */
export function run(
  context: CommandContext,
  shape: OperationShape<'inbox_claim'>,
): Promise<number> {
  return runOperation(shape, context, (answer) => {
    giveBackIfLost(context, [answer]);
    return detailOf(context, answer);
  });
}
