import { pluralize } from '../../shared/lib/pluralize.ts';
import { safeText, textWidth } from './terminal-text.ts';

/** How many rows these lines take on a terminal, which wraps the long ones. */
export function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + rowsOfLine(line, columns), 0);
}

function rowsOfLine(line: string, columns: number): number {
  return Math.max(1, Math.ceil(textWidth(safeText(line)) / columns));
}

/** The lines, or as many as leave room to say how many more there are. */
export function fitRows(
  lines: readonly string[],
  room: number,
  columns: number,
): readonly string[] {
  if (rowsOf(lines, columns) <= room) return lines;
  let left = room - 1;
  const cut = lines.findIndex((line) => (left -= rowsOfLine(line, columns)) < 0);
  return [...lines.slice(0, cut), `… and ${pluralize(lines.length - cut, 'more line')}`];
}
