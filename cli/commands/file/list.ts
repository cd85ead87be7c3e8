import type { CommandContext, Declaration } from '../../command.ts';
import { fileListView } from '../../disk/list-view.ts';
import { EXIT } from '../../exit.ts';
import { integerOption, textArgument, textOption } from '../../input/option-values.ts';
import { LIST_MAX } from '../../../shared/limits.ts';
import { pathOf } from '../../../shared/rules/disk-name.ts';

export const declaration: Declaration = {
  summary: 'List stored files in byte order of their paths.',
  description: 'The cursor holds its place while files come and go.',
  args: [
    {
      name: 'prefix',
      required: false,
      summary: 'Only paths that begin so; it may end within a name.',
    },
  ],
  options: [
    { flag: 'cursor', value: 'VALUE', summary: 'The next_cursor of the page before.' },
    { flag: 'limit', value: 'N', summary: 'How many (1 to 100, default 20).' },
  ],
  examples: [
    'file list',
    'file list reports/ --limit 100',
    "file list --json | jq -r '.items[].path'",
  ],
};

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
