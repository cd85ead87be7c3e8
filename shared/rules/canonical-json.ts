import { ExactNumber, parseExact } from '../lib/json/exact-json.ts';

/** Refuses deeper values, which bounds the recursion and catches cycles. */
const DEPTH_MAX = 1000;

/**
 * The canonical JSON text of a plain value (RFC 8785): members sorted by UTF-16 code units, no white space, numbers as
 * ECMAScript writes them. Leaves out undefined members.
 *
 * One extension: writes a lone surrogate as its `\udxxx` escape, where the RFC stops with an error. Payloads hold
 * whatever a sender sent, and they all need a digest.
 *
 * Throws TypeError for values that JSON can't express: non-finite numbers, undefined in arrays or alone, bigint,
 * functions, symbols, class instances, cycles and more than 1,000 levels.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

/** Canonical JSON in which numbers that say the same are written the same: `1.0` as 1, exactly, however long. */
export function evenJson(canonical: string): string {
  return canonicalJson(withEvenNumbers(parseExact(canonical)));
}

function withEvenNumbers(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.even();
  if (Array.isArray(value)) return value.map(withEvenNumbers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withEvenNumbers(member)]);
  return Object.fromEntries(members);
}

function write(value: unknown, depth: number): string {
  if (value === null) return 'null';
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('JSON has no number that is not finite.');
    return JSON.stringify(value);
  }
  if (value instanceof ExactNumber) return value.text;
  if (typeof value !== 'object') throw new TypeError(`JSON has no ${typeof value}.`);
  if (depth >= DEPTH_MAX) throw new TypeError('The value is nested too deep, or in a cycle.');
  return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth);
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = '[';
  for (let i = 0; i < items.length; i++) {
    text += (i === 0 ? '' : ',') + write(items[i], depth + 1);
  }
  return text + ']';
}

function writeObject(members: object, depth: number): string {
  if (!isPlain(members)) throw new TypeError('JSON has no class instances.');
  let text = '{';
  for (const [name, value] of Object.entries(members).toSorted(byName)) {
    if (value === undefined) continue;
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${write(value, depth + 1)}`;
  }
  return text + '}';
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  // Names in an object are distinct, so they never compare equal.
  return a[0] < b[0] ? -1 : 1;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The second test recognizes Object.prototype of any realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
