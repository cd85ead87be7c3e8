import type { CommandModule } from '../command.ts';
import { runOperation } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import { checkSource } from '../work/source-check.ts';
import { eventListView, eventView } from '../view/events.ts';

/** `svc inbox list`, `wait` and `claim`: a mail is shown as one, any other event as its fields. */
export function inboxRead(shape: OperationShape): CommandModule {
  const viewOf = shape.name === 'inbox_list' ? eventListView : eventView;
  return {
    run: (context) => {
      if (shape.effect === 'wait') void checkSource(context);
      return runOperation(shape, context, viewOf);
    },
  };
}
