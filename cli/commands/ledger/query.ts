import { parseApiKey } from '../../../shared/lib/ids.ts';
import type { CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { compareWithRemembered, ledgerAlarm, rememberedHead } from '../../ledger-heads.ts';
import { printOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';

/** `svc ledger query`: if the answer starts with the newest entry, compares it with the head this machine saw last. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'ledger_query'>,
): Promise<number> {
  const answer = await printOperation(shape, context);
  const project = parseApiKey(context.client().apiKey)?.projectId;
  const narrowed = shape.fields.some(
    ({ name }) => name !== 'limit' && context.options[name] !== undefined,
  );
  if (narrowed || project === undefined) return EXIT.done;
  const remembered = rememberedHead(context.home.ledgerHeadsFile, project);
  const [newest = null] = answer.items;
  const history = await compareWithRemembered(context.client(), remembered, newest);
  if (!history.ok) throw ledgerAlarm(history);
  return EXIT.done;
}
