import { keepWidths, widthsOf, type Look } from '../view/table.ts';
import { padToWidth, safeLine, textWidth } from '../view/terminal-text.ts';

const GAP = '  ';

interface Column {
  readonly head: string;
  /** Right-aligned, for numbers. */
  readonly right?: true;
}

/** A table that cuts nothing, because a cut path can't be copied. The terminal wraps lines that are too long. */
export function wholeTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  look: Pick<Look, 'bold' | 'layout'>,
): string[] {
  const all = [columns.map(({ head }) => head), ...rows.map((row) => row.map(safeLine))];
  const heads = columns.map(({ head }) => head);
  const known = widthsOf(heads, look.layout);
  const widths =
    known ?? columns.map((_, at) => Math.max(...all.map((row) => textWidth(row[at] ?? ''))));
  keepWidths(heads, widths, look.layout);
  const [heading = '', ...lines] = all.map((row) =>
    columns
      .map(({ right }, at) => {
        const text = row[at] ?? '';
        const width = widths[at] ?? 0;
        return right
          ? ' '.repeat(Math.max(0, width - textWidth(text))) + text
          : padToWidth(text, width);
      })
      .join(GAP)
      .trimEnd(),
  );
  return known ? lines : [look.bold(heading), ...lines];
}
