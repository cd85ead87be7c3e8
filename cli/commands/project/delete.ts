import { isObject } from '../../../shared/lib/guards.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { usageError } from '../../errors.ts';
import { askerOf } from '../../input/asker.ts';
import { textArgument } from '../../input/option-values.ts';
import { runOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import type { View } from '../../view/output.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = { seeAlso: ['project rename', 'gateway export'] };

/** `svc project delete`: on a terminal the name is typed twice, because nothing brings a project back. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const name = textArgument(context, 'name') ?? '';
  const asker = askerOf(context);
  if (asker) {
    try {
      asker.show([
        `This deletes ${name} with its events, files, mail and ledger, for everyone, for good.`,
        "To keep a copy, stop here and ask the gateway's operator for an export (svc gateway export).",
      ]);
      const typed = await asker.ask("Type the project's name again:");
      if (typed !== name) throw usageError("That isn't the same name. Nothing was deleted.");
    } finally {
      asker.close();
    }
  }
  return runOperation(shape, context, deletedView);
}

/** What became of the project. */
function deletedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['deleted'] !== 'boolean') return {};
  const { deleted, request_id: request } = answer;
  const asked =
    typeof request === 'string'
      ? `Asked an owner to allow it: ${request}. Until then nothing changes.`
      : 'No owner can be asked. Sign in to the web inbox as an owner to delete it.';
  const text = deleted
    ? 'Deleted. What is stored is being erased; backups of the operator keep their copy.'
    : asked;
  return { lines: () => [safeLine(text)] };
}
