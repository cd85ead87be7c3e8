import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import type { Look } from '../../view/table.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';
import { wholeTable } from '../../disk/columns.ts';

export const run = showing(routeListView);

type Fields = Readonly<Record<string, unknown>>;

const COLUMNS = [
  { head: 'ROUTE' },
  { head: 'EVENTS' },
  { head: 'PENDING', right: true },
  { head: 'DEAD', right: true },
  { head: 'ADDED BY' },
  { head: 'URL' },
] as const;

/** One line per route; a disabled route also says why. */
function routeListView(answer: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  if (!Array.isArray(items) || items.length === 0) return {};
  const routes = items.filter(isObject);
  return {
    lines: (look) => [
      ...wholeTable(
        COLUMNS,
        routes.map((route) => [
          plainText(route['id']),
          [route['match_source'] ?? '*', route['match_type'] ?? '*'].map(plainText).join(' '),
          plainText(route['pending']),
          plainText(route['dead']),
          plainText(route['maker']),
          plainText(route['callback_url']),
        ]),
        look,
      ),
      ...routes.flatMap((route) => disabledLines(route, look)),
    ],
  };
}

function disabledLines({ id, enabled, disabled_reason: reason }: Fields, look: Look): string[] {
  if (enabled !== false) return [];
  return [
    look.red(safeLine(`${plainText(id)} is disabled: ${plainText(reason ?? '')}`)),
    safeLine(`To enable it: svc route enable ${plainText(id)}`),
  ];
}
