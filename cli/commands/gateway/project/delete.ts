import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { usageError } from '../../../errors.ts';
import { askerOf } from '../../../input/asker.ts';
import { textArgument, textOption } from '../../../input/option-values.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 12,
  summary: 'Delete a project with everything in it, for good.',
  description:
    'Its keys, sessions, waits and streams end at once. Then its blobs, database, log and archives are erased, and its slug is free. If the gateway stops meanwhile, it continues at its next start. Backups keep their copy. With SVC_DATABASE_URL the tables are emptied: drop the database at its server yourself. To keep a copy, run svc gateway export first.',
  args: [PROJECT_ARGUMENT],
  options: [
    { flag: 'yes', value: 'NAME', summary: 'The same slug or id again, instead of typing it' },
    ...DATA_OPTIONS,
  ],
  examples: ['gateway project delete shop', 'gateway project delete shop --yes shop'],
};

export async function run(context: CommandContext): Promise<void> {
  const name = textArgument(context, 'name') ?? '';
  const typed = textOption(context, 'yes') ?? (await typedAgain(context, name));
  if (typed !== name) throw usageError("That isn't the same name. Nothing was deleted.");
  const path = orderPath(context, 'delete');
  const answer = context.output.spin(
    () => 'Deleting',
    callOperator(context, { method: 'POST', path }),
  );
  tellOrder(context, await answer, {
    changed: (slug, id) =>
      `Deleted ${slug} (${id}). Backups keep their copy. If its database is on a server, drop it there.`,
    same: (slug) => `${slug} was already deleted.`,
  });
}

async function typedAgain(context: CommandContext, name: string): Promise<string> {
  const asker = askerOf(context);
  if (!asker) throw usageError(`To delete it without a question, add: --yes ${name}`);
  try {
    asker.show([
      `This deletes ${name} for everyone, for good. To keep a copy, stop here and run: svc gateway export ${name} FOLDER`,
    ]);
    return await asker.ask('Type the slug or id again:');
  } finally {
    asker.close();
  }
}
