import type { CommandContext } from '../command.ts';
import { textOption } from '../input/option-values.ts';
import { warn } from '../view/warnings.ts';

/** Warns at once if `--source` doesn't exist; the wait itself would say so only when its time is up. */
export async function checkSource(context: CommandContext): Promise<void> {
  const source = textOption(context, 'source');
  if (source === undefined) return;
  const { client, signal } = context;
  // The wait reports any other problem with the call.
  const answer = await client()
    .call('inbox_list', { source, limit: 1 }, { signal })
    .catch(() => null);
  warn(context, answer);
}
