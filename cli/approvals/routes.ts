import type { Route } from '../../clients/typescript/generated/types.ts';

/** Lines of a receiver's answer are cut to this width. */
export const WIDEST_TEXT = 120;

/** `Events of shop of type invoice.*` */
export function matchText({
  match_source: source,
  match_type: type,
}: Pick<Route, 'match_source' | 'match_type'>): string {
  const from = source === null ? '' : ` of ${source}`;
  const like = type === null ? '' : ` of type ${type}`;
  return from === '' && like === '' ? 'All events' : `Events${from}${like}`;
}
