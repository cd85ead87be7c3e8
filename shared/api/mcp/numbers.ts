import { randomUUID } from 'node:crypto';
import { ExactNumber } from '../../lib/json/exact-json.ts';

/** Secret, because we replace it before an answer leaves. */
const MARK = randomUUID();
const MARKED = /"([\da-f-]{36}):([-+.\deE]+)"/g;

/** Replaces exact numbers with marked strings, because the SDK uses JSON.stringify, which would round them. */
export function markNumbers<T extends object>(value: T): T {
  return hasExact(value) ? (marked(value) as T) : value;
}

function hasExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof ExactNumber || Object.values(value).some(hasExact);
}

function marked(value: unknown): unknown {
  if (value instanceof ExactNumber) return `${MARK}:${value.text}`;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(marked);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, marked(member)]));
}

/** Puts the exact numbers back into the JSON. */
export function writeNumbers(json: string): string {
  if (!json.includes(MARK)) return json;
  return json.replace(MARKED, (found, mark: string, text: string) =>
    mark === MARK ? text : found,
  );
}
