import type { CommandContext } from '../command.ts';
import { fileListView } from '../disk/list-view.ts';
import { EXIT } from '../exit.ts';
import { integerOption, textArgument, textOption } from '../input/option-values.ts';
import { LIST_MAX } from '../../shared/limits.ts';
import { pathOf } from '../../shared/rules/disk-name.ts';

/** `svc file list`: a page of the stored files. */
export async function run(context: CommandContext): Promise<number> {
  const prefix = textArgument(context, 'prefix');
  const query = {
    prefix: prefix === undefined ? undefined : pathOf(prefix),
    cursor: textOption(context, 'cursor'),
    limit: integerOption(context, 'limit', { min: 1, max: LIST_MAX }),
  };
  const { output, signal } = context;
  const answer = await context.client().call('GET', '/v1/files', { query, signal });
  output.answer(answer, fileListView(answer));
  return EXIT.done;
}
