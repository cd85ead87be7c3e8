import { pluralize } from '../../shared/lib/pluralize.ts';
import { stateText } from './states.ts';
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
  /** For the names in JSON. */
  readonly blue: (text: string) => string;
  /** The columns of the table that this one continues. */
  readonly layout?: Layout;
  /** Writes the commands in svc's own text as this program was started: `npx svc up`. */
  readonly typed: (text: string) => string;
}

/** A table's columns and their widths, kept while it grows. */
export interface Layout {
  columns: string;
  widths: readonly number[];
  /** The places of the columns that a table shows. */
  shown?: readonly number[];
}

const GAP = '  ';
/** A column's minimum width, unless its heading is wider. */
const NARROWEST = 10;

/** The columns that say what a record is about. They keep their width longest, because a short one says nothing. */
const SUBJECT = /^(?:about|note|subject|summary)$/;

/**
 * A table of records that fits the terminal. The last columns are dropped if there's no room, but not what a record is
 * about; JSON has them all. Where not even two columns fit side by side, the second goes below the first.
 */
export function table(rows: readonly object[], columns: readonly string[], look: Look): string[] {
  const cells = rows.map((row) =>
    columns.map((column) => cellText(column, Reflect.get(row, column), look.now)),
  );
  const all = columns.map((column, index) => {
    const head = column.replace(/_at$/, '').replaceAll('_', ' ').toUpperCase();
    const texts = cells.map((row) => row[index] ?? '');
    const wanted = Math.max(textWidth(head), ...texts.map(textWidth));
    const least = isWhole(column) ? wanted : Math.max(textWidth(head), NARROWEST);
    return { head, column, wanted, least: Math.min(wanted, least) };
  });
  const known = widthsOf(columns, look.layout);
  const shown = (known && look.layout?.shown) ?? fitting(all, look.columns);
  const fit = shown.map((at) => all[at] ?? { wanted: 0, least: 0 });
  const widths = known ?? fitWidths(fit, look.columns, GAP.length);
  keepWidths(columns, widths, look.layout);
  if (look.layout) look.layout.shown = shown;
  const isStacked = totalOf(widths) > look.columns;
  const cell = (text: string, column: string, width: number) => {
    const room = isStacked ? look.columns - GAP.length : width;
    const cut = isWhole(column) ? text : cutText(text, room);
    const blanks = isStacked ? '' : padToWidth(cut, width).slice(cut.length);
    return stateText(column, cut, look) + blanks;
  };
  const line = (texts: readonly string[]) =>
    shown
      .map((at, place) => cell(texts[at] ?? '', columns[at] ?? '', widths[place] ?? 0))
      .join(isStacked ? `\n${GAP}` : GAP)
      .trimEnd()
      .split('\n');
  const rowLines = cells.flatMap(line);
  return known ? rowLines : [...line(all.map(({ head }) => head)).map(look.bold), ...rowLines];
}

/** Whether a column is never cut, because a cut id, address or name can't be copied. */
function isWhole(column: string): boolean {
  return /(^|_)(id|url|kind)$/.test(column);
}

/** The widths, if these columns continue a table. */
export function widthsOf(columns: readonly string[], layout?: Layout): readonly number[] | null {
  return layout?.columns === columns.join() ? layout.widths : null;
}

export function keepWidths(
  columns: readonly string[],
  widths: readonly number[],
  layout?: Layout,
): void {
  if (layout) Object.assign(layout, { columns: columns.join(), widths });
}

interface Fitting {
  readonly column: string;
  readonly least: number;
}

/** The places of the columns that there's room for. */
function fitting(columns: readonly Fitting[], room: number): number[] {
  const shown = columns.map((_, at) => at);
  const least = () => totalOf(shown.map((at) => columns[at]?.least ?? 0));
  while (shown.length > 2 && least() > room) {
    const last = shown.findLastIndex((at) => !SUBJECT.test(columns[at]?.column ?? ''));
    shown.splice(last > 0 ? last : -1, 1);
  }
  return shown;
}

/** How wide columns are side by side. */
function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
}

/** Cuts a text between words, or a long word where there's no room for it. */
function cutText(text: string, width: number): string {
  const cut = cutToWidth(text, width);
  if (cut === text) return text;
  const words = cut.replace(/\s+\S*…$/, '…');
  return textWidth(words) > width / 2 ? words : cut;
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
  ['day', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** The share of a unit that may be missing when rounding up. */
const ALMOST = 0.05;

/** The local time and its distance: `2026-01-02 11:00:00 (1 h ago)`. JSON has the exact time, in UTC. */
export function timeText(isoTime: string, now: number): string {
  const text = clockText(isoTime);
  return text === isoTime ? text : `${text} (${age(isoTime, now)})`;
}

/** `2026-01-02 03:04:05`, in local time. */
export function clockText(isoTime: string): string {
  const time = new Date(isoTime);
  if (Number.isNaN(time.getTime())) return isoTime;
  const [date, clock] = [
    [time.getFullYear(), time.getMonth() + 1, time.getDate()],
    [time.getHours(), time.getMinutes(), time.getSeconds()],
  ].map((parts) => parts.map((part) => String(part).padStart(2, '0')));
  return `${date?.join('-')} ${clock?.join(':')}`;
}

/** `3 min ago`, `in 2 h`, `5 days ago`, `now`. */
export function age(isoTime: string, now: number): string {
  const seconds = Math.trunc((now - Date.parse(isoTime)) / 1000);
  const distance = Math.abs(seconds);
  const [unit, size] = UNITS.find(([, least]) => distance >= least) ?? [];
  if (size === undefined) return 'now';
  // Something that lasts a day shouldn't show as `23 h` a moment later.
  const amount = Math.floor(distance / size + (seconds < 0 ? ALMOST : 0));
  const text = unit === 'day' ? pluralize(amount, unit) : `${amount} ${unit}`;
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}
