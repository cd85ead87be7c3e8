import type { RouteWithCounts } from '../../../clients/typescript/generated/types.ts';
import { showing } from '../../call/operation-command.ts';
import type { Look } from '../../view/table.ts';
import { safeLine } from '../../view/terminal-text.ts';
import { wholeTable } from '../../disk/columns.ts';

const COLUMNS = [
  { head: 'ROUTE' },
  { head: 'EVENTS' },
  { head: 'PENDING', right: true },
  { head: 'DEAD', right: true },
  { head: 'ADDED BY' },
  { head: 'URL' },
] as const;

/** One line per route; a disabled route also says why. */
export const run = showing<'route_list'>(({ items: routes }) => {
  if (routes.length === 0) return {};
  const rows = routes.map((route) => [
    route.id,
    `${route.match_source ?? '*'} ${route.match_type ?? '*'}`,
    String(route.pending),
    String(route.dead),
    route.maker ?? '',
    route.callback_url,
  ]);
  return {
    lines: (look) => [
      ...wholeTable(COLUMNS, rows, look),
      ...routes.flatMap((route) => disabledLines(route, look)),
    ],
  };
});

function disabledLines(
  {
    id,
    enabled,
    disabled_reason: reason,
  }: Pick<RouteWithCounts, 'id' | 'enabled' | 'disabled_reason'>,
  look: Look,
) {
  if (enabled) return [];
  return [
    look.red(safeLine(`${id} is disabled: ${reason ?? ''}`)),
    safeLine(`To enable it: svc route enable ${id}`),
  ];
}
