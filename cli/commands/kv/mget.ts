import type { CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { readCall, send } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { table } from '../../view/table.ts';

const COLUMNS = ['key', 'value', 'updated_at', 'expires_at', 'version'];

/** `svc kv mget`: a row for each key, those that don't exist too. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'kv_mget'>,
): Promise<number> {
  const call = await readCall(shape, context);
  const answer = await send(context, call);
  const rows = call.input.keys.map((key, at) => answer.items[at] ?? { key });
  context.output.answer(answer, { lines: (look) => table(rows, COLUMNS, look) });
  return EXIT.done;
}
