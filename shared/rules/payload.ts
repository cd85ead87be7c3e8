import { isUtf8 } from 'node:buffer';

/** How the raw bytes of a body are read; stored beside them, so that a payload can be made again. */
export type PayloadKind = 'json' | 'form' | 'text' | 'base64';

interface Payload {
  kind: PayloadKind;
  value: unknown;
}

const DEPTH_MAX = 128;
/** More distinct member names cost the JSON parser seconds in a body of 5 MB. */
const DISTINCT_NAMES_MAX = 20_000;
/** A member takes four bytes or more, so a smaller body cannot have too many. */
const NAMES_COUNTED_FROM_BYTES = DISTINCT_NAMES_MAX * 4;
/** Arrays, objects and huge numbers together: each costs the parser a hundred times its bytes. */
const COSTLY_VALUES_MAX = 500_000;
const FORM_PAIRS_MAX = 10_000;

/**
 * The payload of a webhook body (spec section 2.1, rule 3): parsed JSON when the type says so or is
 * absent, a parsed form, otherwise `{text}` for UTF-8 and `{base64}` for the rest. Never throws: JSON
 * or a form that is broken or would be a burden (more than 128 levels, numbers beyond a double,
 * more than 20,000 distinct names or 500,000 arrays and objects, more than 10,000 fields) stays
 * `{text}`.
 */
export function parsePayload(contentType: string | undefined, body: Uint8Array): Payload {
  const bytes = bufferOf(body);
  if (!isUtf8(bytes)) return readAs('base64', bytes);
  const kind = kindOf(contentType);
  if (kind === 'json') {
    const value = parseBoundedJson(bytes);
    if (value !== undefined) return { kind, value };
  } else if (kind === 'form' && countByte(bytes, AMPERSAND) < FORM_PAIRS_MAX) {
    return readAs('form', bytes);
  }
  return readAs('text', bytes);
}

/** The payload that `parsePayload` gave, from its kind and the same bytes. Never throws. */
export function decodePayload(kind: PayloadKind, body: Uint8Array): unknown {
  return readAs(kind, bufferOf(body)).value;
}

/** JSON that is safe to parse and to show again, or undefined. The bytes must be valid UTF-8. */
export function parseBoundedJson(bytes: Buffer): unknown {
  return new JsonScan(bytes).isBounded() ? parseJson(bytes) : undefined;
}

function readAs(kind: PayloadKind, bytes: Buffer): Payload {
  switch (kind) {
    case 'json': {
      const value = parseJson(bytes);
      return value === undefined ? readAs('text', bytes) : { kind, value };
    }
    case 'form':
      return { kind, value: parseForm(textOf(bytes)) };
    case 'text':
      return { kind, value: { text: textOf(bytes) } };
    case 'base64':
      break;
  }
  return { kind, value: { base64: bytes.toString('base64') } };
}

function bufferOf(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** The text without a byte order mark, which JSON.parse refuses and nobody wants to read. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function kindOf(contentType: string | undefined): 'json' | 'form' | 'other' {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'application/json' || type === 'text/json') return 'json';
  if (type.endsWith('+json')) return 'json';
  return type === 'application/x-www-form-urlencoded' ? 'form' : 'other';
}

function parseJson(bytes: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(textOf(bytes));
    return value;
  } catch {
    return undefined;
  }
}

function parseForm(text: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  // URLSearchParams takes a leading `?` off, which in a body is part of a name.
  for (const [name, value] of new URLSearchParams(`&${text}`)) {
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
const MINUS = 0x2d;
const SPACE = 0x20;

function countByte(bytes: Uint8Array, wanted: number): number {
  let count = 0;
  for (const byte of bytes) if (byte === wanted) count += 1;
  return count;
}

/**
 * One pass over the bytes before JSON.parse may build anything: levels, numbers and names. It does
 * not validate; on broken JSON its answer does not matter, as JSON.parse refuses that itself.
 */
class JsonScan {
  private readonly bytes: Buffer;
  private readonly names: NameCounter | null;
  private depth = 0;
  private costly = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.names = bytes.length < NAMES_COUNTED_FROM_BYTES ? null : new NameCounter();
  }

  isBounded(): boolean {
    let at: number | null = 0;
    while (at !== null && at < this.bytes.length) {
      at = this.next(at);
      if (this.depth > DEPTH_MAX || this.costly > COSTLY_VALUES_MAX) return false;
    }
    return at !== null;
  }

  /** The place behind what begins at `at`, or null when it breaks a bound. */
  private next(at: number): number | null {
    const byte = this.bytes[at] ?? 0;
    if (byte === QUOTE) return this.string(at);
    if (byte === MINUS || isDigit(byte)) return this.number(at);
    const change = levelChange(byte);
    this.depth += change;
    if (change > 0) this.costly += 1;
    return at + 1;
  }

  private string(start: number): number | null {
    const end = stringEnd(this.bytes, start);
    if (this.names === null || !isName(this.bytes, end)) return end;
    return this.names.add(this.bytes, start + 1, end - 1) ? end : null;
  }

  private number(start: number): number | null {
    const end = numberEnd(this.bytes, start);
    if (!mayOverflow(this.bytes, start, end)) return end;
    this.costly += 1;
    return overflows(this.bytes, start, end) ? null : end;
  }
}

/** +1 for `[` and `{`, -1 for `]` and `}`: the pairs differ from one another in one bit only. */
function levelChange(byte: number): number {
  const bracket = byte | 0x20;
  if (bracket === 0x7b) return 1;
  return bracket === 0x7d ? -1 : 0;
}

/** The place after the closing quote of the string that opens at `start`, or the end of the bytes. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return bytes.length;
}

function isName(bytes: Uint8Array, stringEndAt: number): boolean {
  let at = stringEndAt;
  while ((bytes[at] ?? COLON) <= SPACE) at += 1;
  return bytes[at] === COLON;
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

/** False for nearly all numbers, from their form alone. */
function mayOverflow(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start >= 200) return true;
  let exponentAt = start;
  while (exponentAt < end && ((bytes[exponentAt] ?? 0) | 0x20) !== 0x65) exponentAt += 1;
  // Fewer than 200 digits need an exponent of three digits that is not negative.
  return end - exponentAt >= 4 && bytes[exponentAt + 1] !== MINUS;
}

/** Whether JSON.parse would read Infinity, which no JSON text could show again. */
function overflows(bytes: Buffer, start: number, end: number): boolean {
  return Math.abs(Number(bytes.toString('latin1', start, end))) === Number.POSITIVE_INFINITY;
}

const NAME_BITS = 1 << 18;

/**
 * Counts distinct names without keeping them: a bit for each hash. Names that fall on one bit count
 * once, which only makes the count too low.
 */
class NameCounter {
  private readonly bits = new Uint8Array(NAME_BITS / 8);
  private count = 0;

  /** False when the name is one too many. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    // FNV-1a.
    let hash = 0x811c9dc5;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
    hash = (hash ^ (hash >>> 18)) & (NAME_BITS - 1);
    const mask = 1 << (hash & 7);
    const before = this.bits[hash >>> 3] ?? 0;
    if ((before & mask) !== 0) return true;
    this.bits[hash >>> 3] = before | mask;
    this.count += 1;
    return this.count <= DISTINCT_NAMES_MAX;
  }
}
