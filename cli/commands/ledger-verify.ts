import { isHead } from '../../daemon/ledger-heads.ts';
import { isObject } from '../../shared/untyped.ts';
import { parseApiKey } from '../../shared/ids.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { EXIT } from '../exit.ts';
import {
  compareWithRemembered,
  ledgerAlarm,
  rememberedHead,
  rememberHead,
  type Witness,
} from '../ledger-heads.ts';
import { callOperation } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import { verdictView } from '../view/verdict.ts';

/** `ledger verify` as a witness: it also compares with the head this machine saw last. */
export function ledgerVerify(shape: OperationShape): CommandModule {
  return { run: (context) => verify(shape, context) };
}

async function verify(shape: OperationShape, context: CommandContext): Promise<number> {
  const { home, output } = context;
  const answer = await callOperation(shape, context);
  const project = parseApiKey(context.client().apiKey)?.projectId;
  if (!isObject(answer) || project === undefined) {
    output.answer(answer, verdictView(answer, null));
    return isObject(answer) && answer['ok'] === true ? EXIT.done : EXIT.refused;
  }
  const file = home.ledgerHeadsFile;
  const head = isHead(answer['head']) ? answer['head'] : null;
  const before = rememberedHead(file, project);
  const witness = await compareWithRemembered(context.client(), before, head);
  output.answer({ ...answer, witness }, verdictView(answer, witness));
  if (!witness.ok) throw ledgerAlarm(witness);
  if (answer['ok'] !== true) {
    // The lines for a person say it already.
    if (output.json) output.note(`THE LEDGER IS BROKEN at seq ${String(answer['first_bad_seq'])}.`);
    return EXIT.refused;
  }
  if (head && reachesFromRemembered(answer, witness)) rememberHead(file, project, head);
  return EXIT.done;
}

/** Whether the verified stretch joins what was seen before to the head, without a hole between. */
function reachesFromRemembered(answer: Record<string, unknown>, witness: Witness): boolean {
  const head = isHead(answer['head']) ? answer['head'].seq : 0;
  const from = Number(answer['from_seq']);
  const to = Number(answer['to_seq']);
  return to >= head && from <= (witness.remembered?.seq ?? 0) + 1;
}
