import { isObject } from '../../../shared/lib/guards.ts';
import type { CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import type { View } from '../../view/output.ts';
import { table } from '../../view/table.ts';

const COLUMNS = ['key', 'value', 'updated_at', 'expires_at', 'version'];

/** `svc kv mget`: a row for each key, those that don't exist too. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, viewOf(answer, context.args['keys']));
  return EXIT.done;
}

function viewOf(answer: unknown, keys: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  if (!Array.isArray(items) || !Array.isArray(keys)) return {};
  const rows = keys.map((key, at) => {
    const item: unknown = items[at];
    return isObject(item) ? item : { key };
  });
  return { lines: (look) => table(rows, COLUMNS, look) };
}
