import type { CommandContext } from '../command.ts';
import { textOption } from '../input/option-values.ts';
import { warn } from '../view/warnings.ts';

/** Warns at once of a `--source` that isn't there: the wait itself tells only when its time is over. */
export async function checkSource(context: CommandContext): Promise<void> {
  const source = textOption(context, 'source');
  if (source === undefined) return;
  const query = { source, limit: '1' };
  const { signal } = context;
  // What is wrong with the call, the wait says as well.
  const answer = await context
    .client()
    .call('GET', '/v1/inbox', { query, signal })
    .catch(() => null);
  warn(context, answer);
}
