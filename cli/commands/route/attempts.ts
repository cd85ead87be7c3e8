import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import { WIDEST_TEXT } from '../../approvals/routes.ts';
import type { View } from '../../view/output.ts';
import { age, type Look } from '../../view/table.ts';
import { cutToWidth, padToWidth, plainText, safeLine } from '../../view/terminal-text.ts';

export const run = showing(attemptsView);

type Fields = Readonly<Record<string, unknown>>;

/** Deliveries with their attempts. */
function attemptsView(answer: unknown): View {
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

/** `  2   3 min ago    500   12 ms  the answer` */
function attemptLine(attempt: Fields, look: Look): string {
  const { attempt: number, at, status_code: code, duration_ms: ms, error, response } = attempt;
  const cells = [
    plainText(number).padStart(4),
    padToWidth(typeof at === 'string' ? age(at, look.now) : '–', 11),
    code === null ? '  –' : plainText(code),
    `${plainText(ms)} ms`.padStart(9),
  ].map(safeLine);
  const left = cells.join('  ');
  const room = Math.max(20, Math.min(look.columns, WIDEST_TEXT) - left.length - 2);
  // The receiver's own words say more than the status.
  const said = cutToWidth(safeLine(plainText(response || (error ?? ''))), room);
  return `${left}  ${look.faint(said)}`.trimEnd();
}
