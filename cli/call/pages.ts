import { LIST_MAX } from '../../shared/lib/limits.ts';
import type { CommandContext, OptionSpec } from '../command.ts';
import { usageError } from '../errors.ts';
import { switchOption, textOption } from '../input/option-values.ts';
import type { View } from '../view/output.ts';
import { cursorOf, itemsOf } from '../view/pages.ts';

export const ALL_OPTION: OptionSpec = {
  flag: 'all',
  summary: 'Print all pages, row by row as they arrive; Ctrl-C says where to continue.',
};

/** What a page is asked for with. */
export interface PageQuery {
  readonly cursor?: string;
  readonly limit?: number;
}

interface List<T> {
  /** The most rows of a page. */
  readonly most?: number;
  readonly read: (query: PageQuery) => Promise<T>;
  readonly viewOf: (answer: T) => View | Promise<View>;
}

/** Whether the command prints more than one page: with --all, or with a --limit above a page's. */
export function wantsPages({ options }: Pick<CommandContext, 'options'>, most = LIST_MAX): boolean {
  return options['all'] === true || Number(options['limit'] ?? 0) > most;
}

/** Prints page after page, and returns the first. */
export async function printPages<T>(
  context: CommandContext,
  { read, viewOf, most = LIST_MAX }: List<T>,
): Promise<T> {
  const pages = context.output.pages();
  let left = rowsWanted(context);
  let cursor = textOption(context, 'cursor') ?? null;
  let first: T | undefined;
  try {
    for (;;) {
      const limit = Math.min(left, most);
      const answer = await read({ ...(cursor !== null && { cursor }), limit });
      first ??= answer;
      pages.page(answer, await viewOf(answer));
      cursor = cursorOf(answer);
      left -= itemsOf(answer).length;
      if (cursor === null || left <= 0) return first;
    }
  } finally {
    pages.end(cursor);
  }
}

function rowsWanted(context: CommandContext): number {
  const limit = textOption(context, 'limit');
  if (!switchOption(context, 'all')) return Number(limit);
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  throw usageError("--all and --limit can't be used together.", 'Leave one of them out.');
}
