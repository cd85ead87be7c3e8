import { isUtf8 } from 'node:buffer';
import { parseExact } from '../../lib/json/exact-json.ts';
import { isObject } from '../../lib/guards.ts';
import { charsetOf, decoded, formCharset, formPairs } from './body-charset.ts';
import { parseMultipart } from './multipart.ts';

type TextKind = 'json' | 'form' | 'text';

/**
 * How to read the raw bytes of a body; stored with them, so that we can rebuild the payload. Text in another charset than
 * UTF-8 has its name behind a blank: `form windows-1252`.
 */
export type PayloadKind = TextKind | `${TextKind} ${string}` | 'multipart' | 'base64';

interface Payload {
  kind: PayloadKind;
  value: unknown;
}

const DEPTH_MAX = 128;
/**
 * The most that a JSON text may cost the parser, where a plain value costs 1. At this limit parsing takes a few dozen
 * milliseconds at most, whatever the values and names.
 */
const COST_MAX = 200_000;
/** The extra cost of a string: the parser looks short ones up in its table of known strings. */
const STRING_COST = 1;
/** The extra cost of a member, on top of its name: the object may have a new shape. */
const MEMBER_COST = 2;
/** The extra cost of a number of more than 20 characters, which has more digits than a double holds. */
const LONG_NUMBER_COST = 2;
const LONG_NUMBER_CHARS = 20;
/** The cost of a number whose form suggests that it overflows a double: we parse it twice. */
const HUGE_NUMBER_COST = 10;
const OPEN_BRACE = 0x7b;
const FORM_MAX_BYTES = 512 * 1024;
const FORM_PAIRS_MAX = 10_000;

/**
 * The payload of a webhook body (spec section 2.1, rule 3): parsed JSON if the content type says so or is missing, or
 * if a supposed form is a JSON object; a parsed form; text in its declared charset; otherwise `{text}` for UTF-8 and `{base64}` for the rest. Never
 * throws: broken or costly JSON and forms stay `{text}`. Costly means more than 128 levels, numbers beyond a double,
 * more than 200,000 values (a string counts as two, a name or a long number as three), or a form over 512 KB or 10,000
 * fields.
 */
export function parsePayload(contentType: string | undefined, body: Uint8Array): Payload {
  const bytes = bufferOf(body);
  const kind = kindOf(contentType);
  if (kind === 'multipart') {
    const value = parseMultipart(bytes);
    if (value !== null) return { kind, value };
  }
  const charset = charsetOf(contentType);
  // JSON is UTF-8 whatever its sender says, unless it isn't.
  if (charset !== null && !(kind === 'json' && isUtf8(bytes))) {
    const text = decoded(bytes, charset);
    if (text !== null) return inCharset(kind, text, charset);
  }
  return isUtf8(bytes) ? parseText(kind, bytes) : readAs('base64', bytes);
}

/** A body whose bytes are this text in another charset. */
function inCharset(kind: ReturnType<typeof kindOf>, text: string, charset: string): Payload {
  if (kind === 'form' && isBoundedForm(Buffer.from(text))) {
    const value = fieldsOf(text, charset);
    if (value !== null) return { kind: `form ${charset}`, value };
  }
  const inner = parseText(kind === 'form' ? 'other' : kind, Buffer.from(text));
  return { kind: `${inner.kind} ${charset}` as PayloadKind, value: inner.value };
}

function parseText(kind: ReturnType<typeof kindOf>, bytes: Buffer): Payload {
  // curl and others label any body as a form by default; no form starts with a brace.
  if (kind === 'json' || (kind === 'form' && bytes[0] === OPEN_BRACE)) {
    // Ingress looks only at the texts in it, so it doesn't need exact numbers.
    const value = isBounded(bytes) ? parseJson(bytes, JSON.parse) : undefined;
    if (value !== undefined) return { kind: 'json', value };
  }
  if (kind !== 'form' || !isBoundedForm(bytes)) return readAs('text', bytes);
  const form = textOf(bytes);
  const plain = fieldsOf(form, null);
  if (plain !== null) return { kind, value: plain };
  const charset = formCharset(form);
  const value = charset === null ? null : fieldsOf(form, charset);
  // Kept as it is rather than read wrong.
  return value === null ? readAs('text', bytes) : { kind: `form ${charset ?? ''}`, value };
}

/**
 * Rebuilds the payload that `parsePayload` returned, from its kind and the same bytes, with numbers as the sender wrote
 * them. Never throws.
 */
export function decodePayload(kind: PayloadKind, body: Uint8Array): unknown {
  return readAs(kind, bufferOf(body)).value;
}

/**
 * What a payload says: of a form with nothing but a JSON document in the field `payload`, as GitHub and Slack send it,
 * that document.
 */
export function saidBy(payload: unknown): unknown {
  if (!isObject(payload) || typeof payload['payload'] !== 'string') return payload;
  if (Object.keys(payload).length > 1) return payload;
  return parseBoundedJson(Buffer.from(payload['payload'])) ?? payload;
}

/**
 * Parses JSON that is safe to parse and to show again, with numbers as written; undefined if it isn't. The bytes must
 * be valid UTF-8.
 */
export function parseBoundedJson(bytes: Buffer): unknown {
  return isBounded(bytes) ? parseJson(bytes, parseExact) : undefined;
}

function isBounded(bytes: Buffer): boolean {
  return new JsonScan(bytes).isBounded();
}

function readAs(kind: PayloadKind, bytes: Buffer): Payload {
  const [base = '', charset = null] = kind.split(' ');
  // Only its bytes are in that charset; the escapes of a form are read by it too.
  if (charset !== null && base !== 'form') {
    return readAs(base as PayloadKind, Buffer.from(decoded(bytes, charset) ?? ''));
  }
  switch (base) {
    case 'json': {
      const value = parseJson(bytes, parseExact);
      return value === undefined ? readAs('text', bytes) : { kind, value };
    }
    case 'form':
      return { kind, value: formIn(bytes, charset) };
    case 'text':
      return { kind, value: { text: textOf(bytes) } };
    case 'multipart':
      return { kind, value: parseMultipart(bytes) };
    default:
      break;
  }
  return { kind: 'base64', value: { base64: bytes.toString('base64') } };
}

function formIn(bytes: Buffer, charset: string | null): unknown {
  const text = charset === null ? textOf(bytes) : decoded(bytes, charset);
  return fieldsOf(text ?? '', charset);
}

function bufferOf(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** The text without a byte order mark, because JSON.parse refuses one. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function kindOf(contentType: string | undefined): 'json' | 'form' | 'multipart' | 'other' {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'application/json' || type === 'text/json') return 'json';
  if (type.endsWith('+json')) return 'json';
  if (type === 'multipart/form-data') return 'multipart';
  return type === 'application/x-www-form-urlencoded' ? 'form' : 'other';
}

function parseJson(bytes: Buffer, parse: (text: string) => unknown): unknown {
  try {
    return parse(textOf(bytes));
  } catch {
    return undefined;
  }
}

function fieldsOf(form: string, charset: string | null): Record<string, string | string[]> | null {
  const pairs = formPairs(form, charset);
  if (pairs === null) return null;
  const fields: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else fields[name] = [before, value];
  }
  return fields;
}

const AMPERSAND = 0x26;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const MINUS = 0x2d;

function isBoundedForm(bytes: Uint8Array): boolean {
  return bytes.length <= FORM_MAX_BYTES && countByte(bytes, AMPERSAND) < FORM_PAIRS_MAX;
}

function countByte(bytes: Uint8Array, wanted: number): number {
  let count = 0;
  for (const byte of bytes) if (byte === wanted) count += 1;
  return count;
}

/**
 * Scans the bytes once before JSON.parse builds anything: it counts levels, large numbers, and every value and member,
 * so no choice of names or values can make the count too low. It doesn't validate: JSON.parse refuses broken JSON.
 */
class JsonScan {
  private readonly bytes: Buffer;
  private depth = 0;
  /** Starts at 1 for the outermost value. */
  private cost = 1;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  isBounded(): boolean {
    let at: number | null = 0;
    while (at !== null && at < this.bytes.length) {
      at = this.next(at);
      if (this.depth > DEPTH_MAX || this.cost > COST_MAX) return false;
    }
    return at !== null;
  }

  /** The position after the token at `at`, or null if the token is a number beyond a double. */
  private next(at: number): number | null {
    const byte = this.bytes[at] ?? 0;
    if (byte === QUOTE) {
      this.cost += STRING_COST;
      return stringEnd(this.bytes, at);
    }
    if (byte === MINUS || isDigit(byte)) return this.number(at);
    this.punctuation(byte);
    return at + 1;
  }

  /** Counts a value by the character before it: `[` or `{` for the first value inside, `,` for the others. */
  private punctuation(byte: number): void {
    if (byte === COMMA) this.cost += 1;
    else if (byte === COLON) this.cost += MEMBER_COST;
    else {
      const change = levelChange(byte);
      this.depth += change;
      if (change > 0) this.cost += 1;
    }
  }

  private number(start: number): number | null {
    const end = numberEnd(this.bytes, start);
    if (end - start > LONG_NUMBER_CHARS) this.cost += LONG_NUMBER_COST;
    if (!mayOverflow(this.bytes, start, end)) return end;
    this.cost += HUGE_NUMBER_COST;
    return overflows(this.bytes, start, end) ? null : end;
  }
}

/** +1 for `[` and `{`, -1 for `]` and `}`. The two kinds of brackets differ in only one bit. */
function levelChange(byte: number): number {
  const bracket = byte | 0x20;
  if (bracket === OPEN_BRACE) return 1;
  return bracket === 0x7d ? -1 : 0;
}

/** The position after the closing quote of the string that opens at `start`, or the end of the bytes. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return bytes.length;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function numberEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    // Digits, and `+`, `-`, `.`, `e`, `E`.
    if (
      !isDigit(byte) &&
      byte !== 0x2b &&
      byte !== MINUS &&
      byte !== 0x2e &&
      (byte | 0x20) !== 0x65
    )
      break;
  }
  return at;
}

/** Tells from the form of a number whether it may overflow a double; false for nearly all numbers. */
function mayOverflow(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start >= 200) return true;
  let exponentAt = start;
  while (exponentAt < end && ((bytes[exponentAt] ?? 0) | 0x20) !== 0x65) exponentAt += 1;
  // With fewer than 200 digits, only a positive exponent of three digits can overflow.
  return end - exponentAt >= 4 && bytes[exponentAt + 1] !== MINUS;
}

/** Whether JSON.parse would return Infinity, which we couldn't write as JSON again. */
function overflows(bytes: Buffer, start: number, end: number): boolean {
  return Math.abs(Number(bytes.toString('latin1', start, end))) === Number.POSITIVE_INFINITY;
}
