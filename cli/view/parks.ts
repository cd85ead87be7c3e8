import { isObject } from '../../shared/lib/guards.ts';
import type { View } from './output.ts';
import { table, timeText, type Look } from './table.ts';
import { plainText, safeLine } from './terminal-text.ts';

type Fields = Readonly<Record<string, unknown>>;

const COLUMNS = ['id', 'status', 'expires_at'];

/** What happened to an event that was to be parked; any other answer gets the default view. */
export function parkView(answer: unknown): View {
  if (!isObject(answer)) return {};
  const { status } = answer;
  if (status === 'waiting') return { lines: (look) => waitingLines(answer, look) };
  const id = safeLine(plainText(answer['event_id']));
  const isParked = typeof answer['parks'] === 'number';
  if (status === 'pending') {
    const why = isParked ? ': what it would wait for has ended' : '';
    return { lines: (look) => [`${look.green('✓')} ${id} is pending again${why}.`] };
  }
  if (!isParked) return {};
  return { lines: (look) => [`${look.red('✗')} ${id} is dead: it was parked too often.`] };
}

function waitingLines(answer: Fields, look: Look): string[] {
  const { event_id: id, waiting_for: conditions, wakes_at: wakes } = answer;
  const rows = (Array.isArray(conditions) ? conditions : []).filter(isObject);
  const until =
    typeof wakes === 'string' ? `, until ${timeText(wakes, look.now)} at the latest` : '';
  return [
    `${look.yellow('…')} Parked: ${safeLine(plainText(id))} waits${safeLine(until)}.`,
    ...table(rows, COLUMNS, look),
  ];
}
