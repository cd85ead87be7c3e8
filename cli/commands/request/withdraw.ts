import { isObject } from '../../../shared/lib/guards.ts';
import { decisionMark, decisionSentence, type Asked } from '../../approvals/decision.ts';
import { readRequest } from '../../approvals/follow.ts';
import { ChannelNames } from '../../approvals/names.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';

export const declaration: Additions = {
  exits: [
    ['0', 'withdrawn'],
    ['1', 'not withdrawn: it had ended before, and `status` says how'],
  ],
  seeAlso: ['request list', 'request status', 'help exit-codes'],
};

/** `svc request withdraw`: an earlier decision stands, and is shown. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const { client, output, signal } = context;
  const answer = await callOperation(shape, context);
  if (!isObject(answer)) throw new Error("The answer isn't a withdrawal.");
  const isWithdrawn = answer['withdrawn'] === true;
  if (output.json) output.answer(answer);
  else {
    const record = await readRequest(context, String(answer['request_id'])).catch(
      (): Asked => answer,
    );
    const names = await new ChannelNames(client(), signal).of(record);
    const lead = isWithdrawn ? '' : 'Too late to withdraw it. ';
    output.answer(answer, {
      lines: (look) => {
        const mark = isWithdrawn ? look.green('✓') : decisionMark(record, look);
        return [`${mark} ${lead}${decisionSentence(record, names)}`];
      },
    });
  }
  return isWithdrawn ? EXIT.done : EXIT.refused;
}
