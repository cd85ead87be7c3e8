import { ExactNumber, parseExact, stringifyExact } from '../../shared/lib/json/exact-json.ts';

/** The values that an approval binds, as people read them: line by line where that is enough, otherwise as formatted JSON. */
export type BoundValues =
  | { readonly rows: readonly (readonly [name: string, value: string])[] }
  | { readonly json: string };

/** Reads the canonical JSON of a request's `bind`. Nothing is left out and no two values look the same. */
export function boundValues(bind: string): BoundValues {
  const value = parseExact(bind);
  const rows = rowsOf(value);
  return rows ? { rows } : { json: stringifyExact(value, 2) };
}

/** The same as lines of text. */
export function boundLines(bound: BoundValues): string {
  if ('json' in bound) return bound.json;
  return bound.rows.map(([name, value]) => `${name}: ${value}`).join('\n');
}

function rowsOf(value: unknown): (readonly [string, string])[] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const members = Object.entries(value);
  if (members.length === 0 || !members.every(([, member]) => isScalar(member))) return null;
  return members.map(([name, member]) => [shownName(name), shownScalar(member)] as const);
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || value instanceof ExactNumber;
}

const PLAIN_NAME = /^[\w.$-]+$/;

/** A name with a colon or a line break in it could pass for a name and its value. */
function shownName(name: string): string {
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name);
}

/** Blanks at an end, a quotation mark, and what JSON reads as something else than a text. */
const UNPLAIN = /^$|^\s|\s$|^"|[\r\n\t\u0085\u2028\u2029]|^(?:true|false|null|-?\d[\d.eE+-]*)$/;

/** A text as it is, or in quotation marks where it could be mistaken: "12" is a text and 12 a number. */
function shownScalar(value: unknown): string {
  if (typeof value !== 'string') return stringifyExact(value);
  return UNPLAIN.test(value) ? JSON.stringify(value) : value;
}
