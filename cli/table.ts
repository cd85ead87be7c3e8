import { cutToWidth, padToWidth, safeLine, textWidth } from './terminal-text.ts';

/** How a view looks at the moment it is drawn. */
export interface Look {
  readonly columns: number;
  readonly now: number;
  /** Emphasis, where the terminal shows it. */
  readonly bold: (text: string) => string;
  readonly faint: (text: string) => string;
}

const GAP = '  ';
/** A column is not made narrower than this while another is wider. */
const NARROWEST = 6;

/** A table of records: the named columns, fitted to the terminal. */
export function table(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
  look: Look,
): string[] {
  const cells = rows.map((row) => columns.map((column) => cellText(column, row[column], look.now)));
  const heads = columns.map((column) =>
    column.replace(/_at$/, '').replaceAll('_', ' ').toUpperCase(),
  );
  const wanted = heads.map((head, index) =>
    Math.max(textWidth(head), ...cells.map((row) => textWidth(row[index] ?? ''))),
  );
  const widths = fitWidths(wanted, look.columns - GAP.length * (columns.length - 1));
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => padToWidth(cutToWidth(text, widths[index] ?? 0), widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  return [look.bold(line(heads)), ...cells.map(line)];
}

/** Narrows the widest column, one column at a time, until the row fits. */
export function fitWidths(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
    over -= 1;
  }
  return widths;
}

function cellText(column: string, value: unknown, now: number): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return safeLine(value.map(String).join(','));
  if (typeof value === 'object') return safeLine(JSON.stringify(value));
  const text = safeLine(String(value));
  return isTime(column, text) ? age(text, now) : text;
}

/** Whether a field holds a time: known by its name and its form. */
export function isTime(name: string, text: string): boolean {
  return /(^|_)(at|until)$/.test(name) && /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text);
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** `3m ago`, `in 2h`, `now`. */
export function age(isoTime: string, now: number): string {
  const seconds = Math.trunc((now - Date.parse(isoTime)) / 1000);
  const distance = Math.abs(seconds);
  const unit = UNITS.find(([, size]) => distance >= size);
  if (!unit) return 'now';
  const amount = `${Math.floor(distance / unit[1])}${unit[0]}`;
  return seconds > 0 ? `${amount} ago` : `in ${amount}`;
}
