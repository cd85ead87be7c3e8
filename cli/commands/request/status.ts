import type { Additions, CommandContext } from '../../command.ts';
import { callOperation, exitOf } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { ChannelNames } from '../../approvals/names.ts';
import { channelsIn, requestView } from '../../approvals/request-view.ts';

export const declaration: Additions = {
  seeAlso: ['request watch', 'ask approval', 'help exit-codes'],
};

export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const { output, signal } = context;
  const record = await callOperation(shape, context);
  const names = new ChannelNames(context.client(), signal);
  const known = output.json ? new Map() : await names.ofIds(channelsIn(record));
  output.answer(record, requestView(record, known));
  return exitOf(record);
}
