import { decisionMark, decisionSentence, type RequestState } from '../../approvals/decision.ts';
import { readRequest } from '../../approvals/follow.ts';
import { ChannelNames } from '../../approvals/names.ts';
import { hangingNote } from '../../view/terminal-text.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';

export const declaration: Additions = {
  exits: [
    ['0', 'withdrawn'],
    ['1', 'not withdrawn: it had ended before, and `status` says how'],
  ],
  seeAlso: ['request list', 'request status', 'help exit-codes'],
};

/** `svc request withdraw`: an earlier decision stands, and is shown. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'request_withdraw'>,
): Promise<number> {
  const { client, output, signal } = context;
  const answer = await callOperation(shape, context);
  const isWithdrawn = answer.withdrawn;
  if (output.json) output.answer(answer);
  else {
    const record = await readRequest(context, answer.request_id).catch((): RequestState => ({
      ...answer,
      reason: isWithdrawn ? 'withdrawn' : null,
    }));
    const names = await new ChannelNames(client(), signal).of(record);
    const lead = isWithdrawn ? '' : 'Too late to withdraw it. ';
    output.answer(answer, {
      lines: (look) => {
        const mark = isWithdrawn ? look.green('✓') : decisionMark(record, look);
        return hangingNote(`${mark} `, lead + decisionSentence(record, names), look.columns, 2);
      },
    });
  }
  return isWithdrawn ? EXIT.done : EXIT.refused;
}
