import type { Additions, CommandContext } from '../../command.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { runOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { detailOf, HEADERS } from '../../work/whole-event.ts';

export const declaration: Additions = { moreOptions: [HEADERS, WATCH_OPTION] };

/** `svc inbox get`: what the event is about comes first. */
export function run(context: CommandContext, shape: OperationShape): Promise<number> {
  return runOperation(shape, context, (answer) => detailOf(context, answer));
}
