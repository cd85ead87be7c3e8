import type { Asked } from './decision.ts';

/** No line of what a receiver said is wider. */
export const WIDEST_TEXT = 120;

/** `Events of shop with type invoice.*` */
export function matchText({ match_source: source, match_type: type }: Asked): string {
  const from = typeof source === 'string' ? ` of ${source}` : '';
  const like = typeof type === 'string' ? ` of type ${type}` : '';
  return from === '' && like === '' ? 'All events' : `Events${from}${like}`;
}
