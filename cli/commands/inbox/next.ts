import type { Additions, CommandContext } from '../../command.ts';
import { runOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { eventListView } from '../../view/events.ts';
import { giveBackIfLost } from '../../work/give-back.ts';
import { checkSource } from '../../work/source-check.ts';
import { detailOf, HEADERS } from '../../work/whole-event.ts';

export const declaration: Additions = {
  moreOptions: [HEADERS],
  seeAlso: ['inbox ack', 'inbox nack', 'inbox wait', 'inbox work', 'help exit-codes'],
};

/** `svc inbox next`: one event with its payload, several as a table. It says at once if the source it waits for doesn't exist. */
export function run(context: CommandContext, shape: OperationShape<'inbox_next'>): Promise<number> {
  void checkSource(context);
  return runOperation(shape, context, ({ items: events }) => {
    giveBackIfLost(context, events);
    const [only, ...others] = events;
    return only === undefined || others.length > 0
      ? eventListView({ items: events })
      : detailOf(context, only);
  });
}
