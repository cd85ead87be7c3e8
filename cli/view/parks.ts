import type { Answer } from '../call/answers.ts';
import type { View } from './output.ts';
import { table, timeText, type Look } from './table.ts';
import { hangingNote, safeLine } from './terminal-text.ts';

const COLUMNS = ['id', 'status', 'expires_at'];

/** What happened to an event that was to be parked; any other answer gets the default view. */
export function parkView(answer: Answer<'inbox_nack'>): View {
  const { status, parks } = answer;
  if (status === 'waiting') return { lines: (look) => waitingLines(answer, look) };
  const id = safeLine(answer.event_id);
  const isParked = parks !== undefined;
  if (status === 'pending') {
    const why = isParked ? ': what it would wait for has ended' : '';
    return { lines: (look) => [`${look.green('✓')} ${id} is pending again${why}.`] };
  }
  if (!isParked) return {};
  return { lines: (look) => [`${look.red('✗')} ${id} is dead: it was parked too often.`] };
}

function waitingLines(answer: Answer<'inbox_nack'>, look: Look): string[] {
  const { event_id: id, waiting_for: rows = [], wakes_at: wakes } = answer;
  const until = wakes === undefined ? '' : `, until ${timeText(wakes, look.now)} at the latest`;
  return [
    ...hangingNote(
      `${look.yellow('…')} `,
      safeLine(`Parked: ${id} waits${until}.`),
      look.columns,
      2,
    ),
    ...table(rows, COLUMNS, look),
  ];
}
