import type { Additions, CommandContext } from '../../command.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { callOperation, exitOf } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { ChannelNames } from '../../approvals/names.ts';
import { confirmOwn } from '../../approvals/received.ts';
import { requestView } from '../../approvals/request-view.ts';

export const declaration: Additions = {
  description:
    "Returns the whole request without waiting. Go ahead only on approved, modified (a person picked an option) or answered; pending isn't a denial. --watch shows the request until Ctrl-C; to wait for the decision and exit with its code, use svc request watch.",
  moreOptions: [WATCH_OPTION],
  seeAlso: ['request watch', 'ask approval', 'help exit-codes'],
};

export async function run(
  context: CommandContext,
  shape: OperationShape<'request_status'>,
): Promise<number> {
  const { output, signal } = context;
  const record = await callOperation(shape, context);
  const names = new ChannelNames(context.client(), signal);
  const known = output.json ? new Map() : await names.ofIds(record.approvers);
  output.answer(record, requestView(record, known));
  await confirmOwn(context, record);
  return exitOf(record);
}
