import type { Answer } from '../../call/answers.ts';
import { aftermathLines, endedLines, leftLines } from '../../access/aftermath.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { usageError } from '../../errors.ts';
import { askerOf } from '../../input/asker.ts';
import { switchOption, textArgument } from '../../input/option-values.ts';
import { runOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import type { View } from '../../view/output.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = {
  moreOptions: [{ flag: 'yes', summary: "Don't ask on a terminal" }],
  seeAlso: ['key get', 'key rotate', 'key list'],
};

/** `svc key revoke`: on a terminal it shows what the key made, and asks before that ends too. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'key_revoke'>,
): Promise<number> {
  const isSure = switchOption(context, 'keep') || switchOption(context, 'yes');
  const keep = !isSure && (await asksToKeep(context));
  const options = keep ? { ...context.options, keep: true } : context.options;
  return runOperation(shape, { ...context, options }, revokedView);
}

/** Whether the user wants to end the key alone. Without a terminal, a script has decided. */
async function asksToKeep(context: CommandContext): Promise<boolean> {
  const asker = askerOf(context);
  if (!asker) return false;
  try {
    const id = textArgument(context, 'key_id') ?? '';
    const { client, signal } = context;
    const { name, ends, stays } = await client().call('key_get', { key_id: id }, { signal });
    if (ends.length === 0) return false;
    asker.show([
      `Revoking ${name} also ends what it made:`,
      ...endedLines(ends),
      ...(stays.length > 0 ? ['This goes on:', ...leftLines(stays)] : []),
    ]);
    const answer = await asker.ask(
      'Revoke it and end all that? Type yes, or keep to end the key alone:',
    );
    if (answer !== 'yes' && answer !== 'keep') throw usageError('Nothing was revoked.');
    return answer === 'keep';
  } finally {
    asker.close();
  }
}

function revokedView(answer: Answer<'key_revoke'>): View {
  const first = safeLine(`Revoked ${answer.id}.`);
  return { lines: (look) => [first, ...aftermathLines(answer, look)] };
}
