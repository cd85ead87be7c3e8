import { isObject } from '../../shared/untyped.ts';
import { wholeTable } from '../disk/columns.ts';
import type { View } from '../view/output.ts';
import { pairLines } from '../view/pairs.ts';
import { age, type Look } from '../view/table.ts';
import { cutToWidth, padToWidth, plainText, safeLine } from '../view/terminal-text.ts';
import { counted } from '../../shared/counted.ts';

type Fields = Readonly<Record<string, unknown>>;

const WIDEST_TEXT = 120;

/** A new route with its secret. */
export function routeAddedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['secret'] !== 'string') return {};
  const { id, callback_url: url, secret } = answer;
  return {
    lines: (look) => [
      look.bold(safeLine(`${matchText(answer)} go to ${plainText(url)}`)),
      '',
      ...pairLines(
        [
          ['Route', plainText(id)],
          ['Secret', secret],
        ],
        look,
        '  ',
      ),
      '',
      look.yellow('The secret is shown this once: store it where the receiver checks signatures.'),
      `Try it with: svc route test ${safeLine(plainText(id))}`,
    ],
  };
}

/** `Events of shop with type invoice.*` */
function matchText({ match_source: source, match_type: type }: Fields): string {
  const from = typeof source === 'string' ? ` of ${source}` : '';
  const like = typeof type === 'string' ? ` of type ${type}` : '';
  return from === '' && like === '' ? 'All events' : `Events${from}${like}`;
}

const COLUMNS = [
  { head: 'ROUTE' },
  { head: 'EVENTS' },
  { head: 'PENDING', right: true },
  { head: 'DEAD', right: true },
  { head: 'URL' },
] as const;

/** Routes, each on a line; below it why one takes no events any more. */
export function routeListView(answer: unknown): View {
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
    safeLine(`Enable it with: svc route enable ${plainText(id)}`),
  ];
}

/** A route that takes no events any more. */
export function routeDisabledView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['id'] !== 'string') return {};
  const { id } = answer;
  return {
    lines: () => [
      safeLine(`Disabled ${id}. What it had not delivered is pending in the inbox again.`),
      safeLine(`Enable it with: svc route enable ${id}`),
    ],
  };
}

/** A route that takes events again. */
export function routeEnabledView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['resumed'] !== 'number') return {};
  const { id, callback_url: url, resumed, more } = answer;
  const count = counted(resumed, 'event that it gave back is', 'events that it gave back are');
  return {
    lines: (look) => [
      look.bold(safeLine(`${matchText(answer)} go to ${plainText(url)} again`)),
      ...(resumed === 0 ? [] : [`${count} delivered now.`]),
      ...(more === true ? ['There are more: run it again.'] : []),
      safeLine(`See how they fare with: svc route attempts ${plainText(id)}`),
    ],
  };
}

/** A route that is gone. */
export function routeRemovedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['id'] !== 'string') return {};
  const { id } = answer;
  return {
    lines: () => [
      safeLine(`Removed ${id}. What it had not delivered is pending in the inbox again.`),
    ],
  };
}

/** Deliveries, each with its attempts below. */
export function attemptsView(answer: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  if (!Array.isArray(items) || items.length === 0) return {};
  return { lines: (look) => items.filter(isObject).flatMap((item) => deliveryLines(item, look)) };
}

function deliveryLines(item: Fields, look: Look): string[] {
  const { event_type: type, event_id: event, delivery_id: id, log } = item;
  const attempts = (Array.isArray(log) ? log : []).filter(isObject);
  return [
    `${stateText(item, look)}  ${look.bold(safeLine(plainText(type)))}  ${safeLine(plainText(event))}  ${look.faint(safeLine(plainText(id)))}`,
    ...attempts.map((attempt) => attemptLine(attempt, look)),
  ];
}

function stateText({ status, next_attempt_at: next }: Fields, look: Look): string {
  const text = safeLine(plainText(status));
  if (status === 'delivered') return look.green(`✓ ${text}`);
  if (status === 'dead') return look.red(`✗ ${text}`);
  const when = typeof next === 'string' ? `, next attempt ${age(next, look.now)}` : '';
  return look.yellow(`… ${text}${when}`);
}

/** `  2   3m ago   500   12 ms  the answer` */
function attemptLine(attempt: Fields, look: Look): string {
  const { attempt: number, at, status_code: code, duration_ms: ms, error, response } = attempt;
  const cells = [
    plainText(number).padStart(4),
    padToWidth(typeof at === 'string' ? age(at, look.now) : '–', 8),
    code === null ? '  –' : plainText(code),
    `${plainText(ms)} ms`.padStart(9),
  ].map(safeLine);
  const left = cells.join('  ');
  const room = Math.max(20, Math.min(look.columns, WIDEST_TEXT) - left.length - 2);
  // What the receiver said tells more than that it refused.
  const said = cutToWidth(safeLine(plainText(response || (error ?? ''))), room);
  return `${left}  ${look.faint(said)}`.trimEnd();
}

/** How a sample fared. */
export function routeTestedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['delivered'] !== 'boolean') return {};
  const { delivered, status_code: code, duration_ms: ms, error, response, event_id: id } = answer;
  const how =
    code === null ? plainText(error ?? 'no answer') : `the receiver answered ${plainText(code)}`;
  const text = safeLine(`${how}, in ${plainText(ms)} ms`);
  const said = typeof response === 'string' && response !== '' ? response : null;
  return {
    lines: (look) => [
      delivered
        ? `${look.green('✓')} Delivered: ${text}`
        : `${look.red('✗')} Not delivered: ${text}`,
      ...(said === null
        ? []
        : [`  ${cutToWidth(safeLine(said), Math.min(look.columns, WIDEST_TEXT) - 2)}`]),
      look.faint(`  ${safeLine(plainText(id))}`),
    ],
  };
}

/** What is tried again. */
export function routeRetriedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['retried'] !== 'number') return {};
  const { retried, more, route_id: id } = answer;
  const count = counted(retried, 'delivery is', 'deliveries are');
  return {
    lines: () => [
      retried === 0 ? 'There is nothing to try again.' : `${count} tried again now.`,
      ...(more === true ? ['There are more: run it again.'] : []),
      safeLine(`See how they fare with: svc route attempts ${plainText(id)}`),
    ],
  };
}
