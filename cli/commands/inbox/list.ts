import type { Additions } from '../../command.ts';
import type { CommandContext } from '../../command.ts';
import { switchOption, textOption } from '../../input/option-values.ts';
import { runOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { eventListView, eventLinesView } from '../../view/events.ts';

export const declaration: Additions = {
  moreExamples: ['inbox list --status waiting'],
};

/**
 * `svc inbox list`: a mail shows as a mail, a parked event with what it waits for, any other event as its fields. With
 * events in any state, or the newest first, each is a line of what it's about.
 */
export function run(context: CommandContext, shape: OperationShape<'inbox_list'>): Promise<number> {
  const isOverview = switchOption(context, 'newest') || textOption(context, 'status') === 'all';
  if (!isOverview) return runOperation(shape, context, eventListView);
  const options = context.output.json ? context.options : { ...context.options, brief: true };
  return runOperation(shape, { ...context, options }, eventLinesView);
}
