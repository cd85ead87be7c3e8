import type { Asked } from './decision.ts';

/** Lines of a receiver's answer are cut to this width. */
export const WIDEST_TEXT = 120;

/** `Events of shop of type invoice.*` */
export function matchText({ match_source: source, match_type: type }: Asked): string {
  const from = typeof source === 'string' ? ` of ${source}` : '';
  const like = typeof type === 'string' ? ` of type ${type}` : '';
  return from === '' && like === '' ? 'All events' : `Events${from}${like}`;
}
