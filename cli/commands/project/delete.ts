import type { Answer } from '../../call/answers.ts';
import { askedOwnerText } from '../../access/aftermath.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { usageError } from '../../errors.ts';
import { askerOf } from '../../input/asker.ts';
import { textArgument, textOption } from '../../input/option-values.ts';
import { runOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import type { View } from '../../view/output.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = {
  moreOptions: [
    { flag: 'yes', value: 'NAME', summary: 'The name again, instead of typing it on a terminal' },
  ],
  moreExamples: ['project delete "Web shop" --yes "Web shop"'],
  seeAlso: ['project rename', 'gateway export'],
};

/** `svc project delete`: on a terminal the name is given twice, because nothing brings a project back. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'project_delete'>,
): Promise<number> {
  const name = textArgument(context, 'name') ?? '';
  const again = textOption(context, 'yes') ?? (await typedAgain(context, name));
  if (again !== name) throw usageError("That isn't the same name. Nothing was deleted.");
  return runOperation(shape, context, deletedView);
}

/** Without a terminal, a script has written the name on purpose. */
async function typedAgain(context: CommandContext, name: string): Promise<string> {
  const asker = askerOf(context);
  if (!asker) return name;
  try {
    asker.show([
      `This deletes ${name} with its events, files, mail and ledger, for everyone, for good.`,
      "To keep a copy, stop here and ask the gateway's operator for an export (svc gateway export).",
    ]);
    return await asker.ask("Type the project's name again:");
  } finally {
    asker.close();
  }
}

/** What became of the project. */
function deletedView({ deleted, request_id: request }: Answer<'project_delete'>): View {
  const asked =
    request === null
      ? 'No owner can be asked. Sign in to the web inbox as an owner to delete it.'
      : askedOwnerText(request);
  const text = deleted
    ? 'Deleted. What is stored is being erased; backups of the operator keep their copy.'
    : asked;
  return { lines: () => [safeLine(text)] };
}
