import type { Look } from '../view/table.ts';
import { padToWidth, safeLine, textWidth } from '../view/terminal-text.ts';

const GAP = '  ';

interface Column {
  readonly head: string;
  /** Numbers stand below one another by their ends. */
  readonly right?: true;
}

/**
 * A table in which nothing is cut: a path that is cut could not be copied. What is too long for the terminal goes on in
 * its next line.
 */
export function wholeTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  look: Pick<Look, 'bold'>,
): string[] {
  const all = [columns.map(({ head }) => head), ...rows.map((row) => row.map(safeLine))];
  const widths = columns.map((_, at) => Math.max(...all.map((row) => textWidth(row[at] ?? ''))));
  const [heading = '', ...lines] = all.map((row) =>
    columns
      .map(({ right }, at) => {
        const text = row[at] ?? '';
        const width = widths[at] ?? 0;
        return right ? ' '.repeat(width - textWidth(text)) + text : padToWidth(text, width);
      })
      .join(GAP)
      .trimEnd(),
  );
  return [look.bold(heading), ...lines];
}
