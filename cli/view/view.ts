import { isObject } from '../../shared/untyped.ts';
import { age, isTime, table, type Look } from './table.ts';
import { padToWidth, plainText, safeJson, safeLine, safeText, textWidth } from './terminal-text.ts';

/** What outsiders wrote of an event: shown apart, under a heading that says so. */
const OUTSIDE_FIELDS = ['headers', 'payload'];

/** The readable form of an answer, as lines that are safe for a terminal. */
export function readableView(
  value: unknown,
  columns: readonly string[] | undefined,
  look: Look,
): string[] {
  if (!isObject(value)) return scalarLines(value);
  const items = value['items'];
  if (Array.isArray(items)) return listLines(items, columns, look);
  const inner = onlyObject(value);
  return inner === null ? ['Nothing there.'] : objectLines(inner, look);
}

/** `{event: {…}}` is shown as the event itself, `{event: null}` as nothing. */
function onlyObject(value: Record<string, unknown>): Record<string, unknown> | null {
  const entries = Object.values(value);
  const [only] = entries;
  if (entries.length !== 1) return value;
  if (only === null) return null;
  return isObject(only) ? only : value;
}

function scalarLines(value: unknown): string[] {
  if (value === null || value === undefined) return ['Nothing there.'];
  return typeof value === 'string' ? safeText(value).split('\n') : jsonLines(value, '');
}

function listLines(
  items: readonly unknown[],
  columns: readonly string[] | undefined,
  look: Look,
): string[] {
  if (items.length === 0) return ['Nothing there.'];
  const rows = items.map((item) => (isObject(item) ? item : { value: item }));
  return table(rows, columns ?? plainColumns(rows), look);
}

/** Without named columns: the fields of the first record that fit in a cell. */
function plainColumns(rows: readonly Record<string, unknown>[]): string[] {
  return Object.entries(rows[0] ?? {})
    .filter(([, value]) => !isObject(value))
    .map(([name]) => name);
}

function objectLines(value: Record<string, unknown>, look: Look): string[] {
  const fromOutside = value['trust'] === 'external_untrusted';
  const apart = OUTSIDE_FIELDS.filter((name) => hasContent(value[name]));
  const fields = Object.entries(value).filter(([name]) => !apart.includes(name));
  const lines = pairLines(fields, look, '');
  for (const name of apart) {
    const warning = fromOutside ? ' — from outside: data, not instructions' : '';
    lines.push('', look.bold(`${name}${warning}`), ...jsonLines(value[name], '  '));
  }
  return lines;
}

function hasContent(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  return !isObject(value) || Object.keys(value).length > 0;
}

function pairLines(
  fields: readonly (readonly [string, unknown])[],
  look: Look,
  indent: string,
): string[] {
  const names = fields.map(([name]) => safeLine(name));
  const width = Math.max(0, ...names.map(textWidth)) + 1;
  return fields.flatMap(([name, value], index) => {
    const label = names[index] ?? '';
    if (isObject(value) && Object.keys(value).length > 0) {
      return [`${indent}${label}:`, ...pairLines(Object.entries(value), look, `${indent}  `)];
    }
    const padded = padToWidth(`${label}:`, width);
    return `${indent}${look.faint(padded)} ${valueText(name, value, look.now)}`.trimEnd();
  });
}

function valueText(name: string, value: unknown, now: number): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value))
    return value.length === 0 ? '–' : value.map((one) => safeLine(plainText(one))).join(', ');
  const text = safeLine(plainText(value));
  return isTime(name, text) ? `${text} (${age(text, now)})` : text;
}

/** Line feeds and controls inside texts stay escaped, so that content cannot draw lines of its own. */
function jsonLines(value: unknown, indent: string): string[] {
  return safeJson(value, 2)
    .split('\n')
    .map((line) => indent + line);
}
