import type { Additions, CommandContext } from '../../command.ts';
import { readCall } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import { ask } from '../../people/ask.ts';
import { ENDS } from '../../people/options.ts';

export const declaration: Additions = {
  description: `Whoever has the link can read the file without a key until it expires; replacing or deleting the file ends it. A person may have to allow it. Denied, expired or more context needed: exit code 5. ${ENDS}`,
};

/** `svc file url`: a person may have to allow it. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  return ask(shape, context, await readCall(shape, context));
}
