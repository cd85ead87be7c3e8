import type { RouteAttempt, RouteDelivery } from '../../../clients/typescript/generated/types.ts';
import type { Answer } from '../../call/answers.ts';
import { showing } from '../../call/operation-command.ts';
import { WIDEST_TEXT } from '../../approvals/routes.ts';
import type { View } from '../../view/output.ts';
import { age, type Look } from '../../view/table.ts';
import { cutToWidth, padToWidth, safeLine } from '../../view/terminal-text.ts';

export const run = showing<'route_attempts'>(attemptsView);

/** Deliveries with their attempts. */
function attemptsView({ items }: Answer<'route_attempts'>): View {
  if (items.length === 0) return {};
  return { lines: (look) => items.flatMap((item) => deliveryLines(item, look)) };
}

function deliveryLines(item: RouteDelivery, look: Look): string[] {
  const { event_type: type, event_id: event, delivery_id: id, log } = item;
  return [
    `${stateText(item, look)}  ${look.bold(safeLine(type))}  ${safeLine(event)}  ${look.faint(safeLine(id))}`,
    ...log.map((attempt) => attemptLine(attempt, look)),
  ];
}

function stateText({ status, next_attempt_at: next }: RouteDelivery, look: Look): string {
  const text = safeLine(status);
  if (status === 'delivered') return look.green(`✓ ${text}`);
  if (status === 'dead') return look.red(`✗ ${text}`);
  const when = next === null ? '' : `, next attempt ${age(next, look.now)}`;
  return look.yellow(`… ${text}${when}`);
}

/** `  2   3 min ago    500   12 ms  the answer` */
function attemptLine(attempt: RouteAttempt, look: Look): string {
  const { attempt: number, at, status_code: code, duration_ms: ms, error, response } = attempt;
  const cells = [
    String(number).padStart(4),
    padToWidth(age(at, look.now), 11),
    code === null ? '  –' : String(code),
    `${ms} ms`.padStart(9),
  ].map(safeLine);
  const left = cells.join('  ');
  const room = Math.max(20, Math.min(look.columns, WIDEST_TEXT) - left.length - 2);
  // The receiver's own words say more than the status.
  const said = cutToWidth(safeLine(response || (error ?? '')), room);
  return `${left}  ${look.faint(said)}`.trimEnd();
}
