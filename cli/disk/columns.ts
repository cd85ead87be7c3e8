import { keepWidths, widthsOf, type Look } from '../view/table.ts';
import { padToWidth, safeLine, textWidth, wrapText } from '../view/terminal-text.ts';

const GAP = '  ';

interface Column {
  readonly head: string;
  /** Right-aligned, for numbers. */
  readonly right?: true;
  /** Left out if every line fits the terminal without it. */
  readonly spare?: true;
  /** Text to read, in the last column: below its row it's broken between words. The column before it is to be copied. */
  readonly prose?: true;
}

/**
 * A table whose last column is never cut, because a cut path or address can't be copied: where it doesn't fit, it goes
 * below its row. On a narrow terminal columns before it are left out; JSON has them all.
 */
export function wholeTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  look: Pick<Look, 'bold' | 'columns' | 'layout'>,
): string[] {
  const heads = columns.map(({ head }) => head);
  const all = [heads, ...rows.map((row) => row.map(safeLine))];
  const known = widthsOf(heads, look.layout);
  const widths =
    known ?? columns.map((_, at) => Math.max(...all.map((row) => textWidth(row[at] ?? ''))));
  const shown = (known && look.layout?.shown) ?? fitting(columns, widths, look.columns);
  keepWidths(heads, widths, look.layout);
  if (look.layout) look.layout.shown = shown;
  const cell = (row: readonly string[], at: number): string => {
    const text = row[at] ?? '';
    const blanks = ' '.repeat(Math.max(0, (widths[at] ?? 0) - textWidth(text)));
    return columns[at]?.right ? blanks + text : padToWidth(text, widths[at] ?? 0);
  };
  const line = (row: readonly string[]): string[] => {
    const cells = shown.map((at) => cell(row, at));
    const whole = cells.join(GAP).trimEnd();
    if (textWidth(whole) <= look.columns) return [whole];
    const last = cells.at(-1)?.trimEnd() ?? '';
    const isProse = columns.at(-1)?.prose === true;
    const below = isProse ? wrapText(last, look.columns - GAP.length) : [last];
    return [cells.slice(0, -1).join(GAP).trimEnd(), ...below.map((text) => GAP + text)];
  };
  const [heading = [], ...lines] = all.map(line);
  return [...(known ? [] : heading.map(look.bold)), ...lines.flat()];
}

/** The places of the columns to show. */
function fitting(columns: readonly Column[], widths: readonly number[], room: number): number[] {
  const isFit = (places: readonly number[]): boolean =>
    places.reduce((sum, at) => sum + (widths[at] ?? 0) + GAP.length, -GAP.length) <= room;
  const all = columns.map((_, at) => at);
  const few = [...all];
  while (!isFit(few)) {
    const spare = few.findLast((at) => columns[at]?.spare);
    if (spare === undefined) break;
    few.splice(few.indexOf(spare), 1);
  }
  if (isFit(few)) return few;
  const least = columns.at(-1)?.prose ? 3 : 2;
  while (all.length > least && !isFit(all.slice(0, -1))) {
    const spare = all.findLastIndex((at) => columns[at]?.spare);
    all.splice(spare === -1 ? -2 : spare, 1);
  }
  return all;
}
