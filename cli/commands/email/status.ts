import type { Additions, CommandContext } from '../../command.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { callOperation, exitOf } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { tellOutbox } from '../../approvals/outbox-hint.ts';
import { emailView } from '../../view/email.ts';

export const declaration: Additions = {
  moreOptions: [WATCH_OPTION],
  seeAlso: ['email send', 'inbox wait'],
};

/** `svc email status`: the state of one call's messages. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'email_status'>,
): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, emailView(answer));
  // Without a mail server, `sent` means saved in this machine's outbox.
  if (answer.status === 'sent') await tellOutbox(context, 'The mail', 'list');
  return exitOf(answer);
}
