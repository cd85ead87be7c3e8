import { decimalOf, isSameDecimal } from './decimal.ts';

/**
 * A number that JSON.parse would change: `1234567890123456789`, `1.10`, `-0`, `1e5`. It keeps its original text, and
 * `stringifyExact` writes that.
 */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** The same number, written as any other way of writing it: plain where JSON.parse reads it exactly. */
  even(): number | ExactNumber {
    const plain = plainNumber(this);
    const decimal = decimalOf(this.text);
    if (typeof plain === 'number' || decimal === null) return plain;
    const { isNegative, digits, exponent } = decimal;
    return new ExactNumber(`${isNegative ? '-' : ''}0.${digits}e${exponent}`);
  }

  /** Tells `stringifyExact` that there is one. Elsewhere JSON.stringify writes the nearest double. */
  toJSON(): number {
    seen.exact = true;
    return Number(this.text);
  }
}

const seen = { exact: false };

/**
 * Matches every text with a number that JSON.parse changes, and few others, so most texts need no second look. The
 * digit comes before its lookbehind because V8 finds a digit fastest.
 */
const MAY_CHANGE =
  /\d(?<=(?:^|[\s,:[])-?\d)(?:(?<=-0)(?![.\d])|[\d.]{15}|[\d.]*[eE]|\d*\.\d*0(?!\d)|\.0{6})[-+.\deE]*(?:[\s,\]}]|$)/;

/** Whether JSON.parse may change a number in this text. */
export function mayChange(text: string): boolean {
  return MAY_CHANGE.test(text);
}

/** Like JSON.parse, but a number that it would change becomes an `ExactNumber`. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayChange(text) ? new Reader(text).value() : value;
}

/** Like JSON.stringify, but writes an `ExactNumber` as it was written. */
export function stringifyExact(value: unknown, indent = 0): string {
  seen.exact = false;
  const text = JSON.stringify(value, null, indent);
  return seen.exact ? written(value, ' '.repeat(indent), '\n') : text;
}

/**
 * Replaces exact numbers with plain ones, except in the members `except`. A number that would change stays an
 * `ExactNumber`: no schema accepts it as a number, so it's refused instead of altered.
 */
export function plainNumbers(value: unknown, except: readonly string[] = []): unknown {
  if (value instanceof ExactNumber) return plainNumber(value);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'object' || except.includes(name)) continue;
    const plain = plainNumbers(member);
    if (plain !== member) Reflect.set(value, name, plain);
  }
  return value;
}

function plainNumber(exact: ExactNumber): number | ExactNumber {
  const { text } = exact;
  const number = Number(text);
  if (!Number.isFinite(number)) return exact;
  const isSame = /^-?\d+$/.test(text)
    ? BigInt(number) === BigInt(text)
    : isSameDecimal(decimalOf(String(number)), decimalOf(text));
  return isSame ? number : exact;
}

/** With an indent, `line` is a line end plus the current margin. */
function written(value: unknown, indent: string, line: string): string {
  if (value instanceof ExactNumber) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = line + indent;
  const colon = indent === '' ? ':' : ': ';
  const parts = Array.isArray(value)
    ? value.map((item) => written(item, indent, inner))
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => JSON.stringify(name) + colon + written(member, indent, inner));
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (indent === '' || parts.length === 0) return open + parts.join(',') + close;
  return open + inner + parts.join(`,${inner}`) + line + close;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Reads text that JSON.parse has accepted, so it doesn't check for errors. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    const code = this.#next();
    if (code === QUOTE) return this.#string();
    if (code === OPEN_ARRAY) return this.#array();
    if (code === OPEN_OBJECT) return this.#object();
    return this.#word();
  }

  /** The code of the next character that isn't white space. */
  #next(): number {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at += 1;
    return this.#text.charCodeAt(this.#at);
  }

  /** Whether the array or object continues. */
  #isOpen(close: number): boolean {
    const code = this.#next();
    if (code === COMMA || code === close) this.#at += 1;
    return code !== close;
  }

  #array(): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    while (this.#isOpen(CLOSE_ARRAY)) items.push(this.value());
    return items;
  }

  #object(): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    this.#at += 1;
    while (this.#isOpen(CLOSE_OBJECT)) {
      this.#next();
      const name = this.#string();
      this.#next();
      this.#at += 1;
      const value = this.value();
      if (name === '__proto__') own(members, name, value);
      else members[name] = value;
    }
    return members;
  }

  #string(): string {
    const start = this.#at;
    let end = start;
    do end = this.#text.indexOf('"', end + 1);
    while (this.#isEscaped(end));
    this.#at = end + 1;
    const inside = this.#text.slice(start + 1, end);
    return inside.includes('\\') ? (JSON.parse(`"${inside}"`) as string) : inside;
  }

  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#text[before] === '\\') before -= 1;
    return (at - before) % 2 === 0;
  }

  /** A number, true, false or null. */
  #word(): unknown {
    const start = this.#at;
    while (isInWord(this.#text.charCodeAt(this.#at))) this.#at += 1;
    const word = this.#text.slice(start, this.#at);
    const number = Number(word);
    if (String(number) === word) return number;
    return /^[tfn]/.test(word) ? (JSON.parse(word) as unknown) : new ExactNumber(word);
  }
}

/** Also false past the end of the text. */
function isInWord(code: number): boolean {
  return code > 0x20 && code !== COMMA && code !== CLOSE_ARRAY && code !== CLOSE_OBJECT;
}

/** A plain assignment would set the prototype. */
function own(members: object, name: string, value: unknown): void {
  Object.defineProperty(members, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}
