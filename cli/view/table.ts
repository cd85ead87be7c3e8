import { cutToWidth, padToWidth, plainText, safeLine, textWidth } from './terminal-text.ts';

/** How a view looks at the moment it's drawn. */
export interface Look {
  readonly columns: number;
  readonly now: number;
  /** Bold, if the terminal shows it. */
  readonly bold: (text: string) => string;
  readonly faint: (text: string) => string;
  /** For success, failure, and anything open or changed. */
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
}

const GAP = '  ';
/** A column's minimum width, unless its heading is wider. */
const NARROWEST = 10;

/** A table of records that fits the terminal. The last columns are dropped if there's no room; JSON has them all. */
export function table(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
  look: Look,
): string[] {
  const cells = rows.map((row) => columns.map((column) => cellText(column, row[column], look.now)));
  const all = columns.map((column, index) => {
    const head = column.replace(/_at$/, '').replaceAll('_', ' ').toUpperCase();
    const texts = cells.map((row) => row[index] ?? '');
    const wanted = Math.max(textWidth(head), ...texts.map(textWidth));
    // Never cut an id, an address or a name to type, because a cut one can't be copied.
    const least = /(^|_)(id|url|kind)$/.test(column)
      ? wanted
      : Math.max(textWidth(head), NARROWEST);
    return { head, wanted, least: Math.min(wanted, least) };
  });
  const widths = fitWidths(all, look.columns, GAP.length);
  const line = (texts: readonly string[]) =>
    widths
      .map((width, index) => padToWidth(cutToWidth(texts[index] ?? '', width), width))
      .join(GAP)
      .trimEnd();
  return [look.bold(line(all.map(({ head }) => head))), ...cells.map(line)];
}

/** The widths of the columns that fit: drops the last columns, then narrows the widest. */
export function fitWidths(
  columns: readonly { readonly wanted: number; readonly least: number }[],
  room: number,
  gap: number,
): number[] {
  const shown = [...columns];
  const least = () => shown.reduce((sum, column) => sum + column.least + gap, -gap);
  while (shown.length > 2 && least() > room) shown.pop();
  const widths = shown.map(({ wanted }) => wanted);
  let over = widths.reduce((sum, width) => sum + width + gap, -gap) - room;
  for (; over > 0; over -= 1) {
    const slack = widths.map((width, index) => (width > (shown[index]?.least ?? 0) ? width : 0));
    const widest = Math.max(...slack);
    if (widest === 0) break;
    widths[slack.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function cellText(column: string, value: unknown, now: number): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return safeLine(value.map(plainText).join(','));
  const text = safeLine(plainText(value));
  return isTime(column, text) ? age(text, now) : text;
}

/** Whether a field holds a time, by its name and format. */
export function isTime(name: string, text: string): boolean {
  return /(^|_)(at|until)$/.test(name) && /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text);
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** The share of a unit that may be missing when rounding up. */
const ALMOST = 0.05;

/** The time and its distance: `2026-01-02T11:00:00.000Z (1h ago)`. */
export function timeText(isoTime: string, now: number): string {
  return `${isoTime} (${age(isoTime, now)})`;
}

/** `3m ago`, `in 2h`, `now`. */
export function age(isoTime: string, now: number): string {
  const seconds = Math.trunc((now - Date.parse(isoTime)) / 1000);
  const distance = Math.abs(seconds);
  const unit = UNITS.find(([, size]) => distance >= size);
  if (!unit) return 'now';
  // Something that lasts a day shouldn't show as `23h` a moment later.
  const amount = `${Math.floor(distance / unit[1] + (seconds < 0 ? ALMOST : 0))}${unit[0]}`;
  return seconds > 0 ? `${amount} ago` : `in ${amount}`;
}
