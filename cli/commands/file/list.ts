import { pathOf } from '../../../shared/rules/disk/disk-name.ts';
import type { Answer } from '../../call/answers.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { wholeTable } from '../../disk/columns.ts';
import { EXIT } from '../../exit.ts';
import { integerOption, textArgument, textOption } from '../../input/option-values.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { ALL_OPTION, printPages, wantsPages, type PageQuery } from '../../call/pages.ts';
import type { View } from '../../view/output.ts';
import { sizeText } from '../../view/sizes.ts';
import { age } from '../../view/table.ts';

export const declaration: Declaration = {
  summary: 'List stored files in byte order of their paths.',
  description: 'The cursor keeps its place while files are added and removed.',
  args: [
    {
      name: 'prefix',
      required: false,
      summary: 'Only paths that start with this; it may end mid-name.',
    },
  ],
  options: [
    { flag: 'cursor', value: 'VALUE', summary: 'The next_cursor from the previous page.' },
    { flag: 'limit', value: 'N', summary: 'How many to list (at least 1, default 20).' },
    ALL_OPTION,
    WATCH_OPTION,
  ],
  examples: [
    'file list',
    'file list reports/ --limit 100',
    "file list --json | jq -r '.items[].path'",
  ],
};

/** More rows than a list is asked for. */
const MOST = 999_999_999;

/** `svc file list`: one page of the stored files. */
export async function run(context: CommandContext): Promise<number> {
  const prefix = textArgument(context, 'prefix');
  const { output, signal } = context;
  const read = ({ cursor, limit }: PageQuery): Promise<Answer<'file_list'>> => {
    const under = prefix === undefined ? undefined : pathOf(prefix);
    return context.client().call('file_list', { prefix: under, cursor, limit }, { signal });
  };
  const limit = integerOption(context, 'limit', { min: 1, max: MOST });
  if (wantsPages(context)) {
    await printPages(context, { read, viewOf: fileListView });
    return EXIT.done;
  }
  const cursor = textOption(context, 'cursor');
  const answer = await read({ ...(cursor !== undefined && { cursor }), ...(limit && { limit }) });
  output.answer(answer, fileListView(answer));
  return EXIT.done;
}

const COLUMNS = [
  { head: 'SIZE', right: true },
  { head: 'UPDATED', spare: true },
  { head: 'TYPE', spare: true },
  { head: 'PATH' },
] as const;

/** A table of stored files. */
export function fileListView({ items }: Answer<'file_list'>): View {
  if (items.length === 0) return {};
  return {
    lines: (look) =>
      wholeTable(
        COLUMNS,
        items.map(({ size_bytes: size, updated_at: at, content_type: type, path }) => [
          sizeText(size),
          age(at, look.now),
          type,
          path,
        ]),
        look,
      ),
  };
}
