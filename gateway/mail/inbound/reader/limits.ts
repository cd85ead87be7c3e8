import type { MailPayload } from '../read-mail.ts';

/** The largest mail that we split into its parts. */
export const MAIL_MAX_BYTES = 25 * 1024 * 1024;
const PARTS_MAX = 200;
const DEPTH_MAX = 10;
const HEADER_MAX_BYTES = 64 * 1024;
const HEADER_LINES_MAX = 2000;
/** Headers of all parts together, for the parser. */
export const HEADERS_MAX_BYTES = PARTS_MAX * HEADER_MAX_BYTES;
/** Lines, and units of base64 that end inside a line: the parser keeps an object for each. */
const PIECES_MAX = 1_000_000;
const PIECES_OF_A_UNIT = 4;
const CONTENT_TYPE_MAX_CHARS = 4000;
/** Far more than the 70 characters of RFC 2046 section 5.1.1. */
const BOUNDARY_MAX_CHARS = 1000;

/** A name and a colon. A web address is text. */
const FIELD = /^[\x21-\x39\x3b-\x7e]+[ \t]*:(?!\/\/)/;
/** Fields of real headers: any line above one of these still belongs to the header. */
const KNOWN_FIELD =
  /^(?:received|return-path|delivered-to|from|sender|reply-to|to|cc|bcc|subject|date|message-id|in-reply-to|references|mime-version|user-agent|dkim-signature|authentication-results|(?:arc|content|list|resent|x)-[a-z0-9-]+)[ \t]*:/i;
/** The line above each mail in an mbox file. */
const MAILBOX_LINE = /^>?From /;
const EMPTY_LINE = Buffer.from('\r\n');

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;
const EQUALS = 0x3d;

type Incomplete = MailPayload['incomplete'];

/** The structure of a mail, as far as it decides whether we can read the mail. */
export interface Shape {
  readonly incomplete: Incomplete;
  /** Where the mail's own header ends, including the empty line; null if not within the caps. */
  readonly headerEnd: number | null;
  /** The headers of the mail and its parts, without their empty lines. In order. */
  readonly headers: readonly HeaderSpan[];
  /** Where text follows a header, the mail's own or a part's, without an empty line in between. In order. */
  readonly gaps: readonly number[];
}

interface HeaderSpan {
  readonly start: number;
  readonly end: number;
}

/** Goes over the bytes once, line by line, and stops at the first cap that is exceeded. */
export function shapeOf(bytes: Buffer): Shape {
  const scan = new Scan(bytes);
  let start = 0;
  let incomplete: Incomplete = bytes.length > MAIL_MAX_BYTES ? 'too_large' : null;
  while (start < bytes.length && (incomplete === null || scan.headerEnd === null)) {
    const found = bytes.indexOf(LF, start);
    const next = found === -1 ? bytes.length : found + 1;
    const passed = scan.line(start, next);
    incomplete ??= passed;
    if (passed !== null) break;
    start = next;
  }
  scan.end();
  const { headerEnd, headers, gaps } = scan;
  return { incomplete, headerEnd, headers, gaps };
}

/** Inserts the missing empty lines at `gaps`. */
export function withEmptyLines(bytes: Buffer, gaps: readonly number[]): Buffer {
  if (gaps.length === 0) return bytes;
  const pieces = gaps.map((at, index) => bytes.subarray(gaps[index - 1] ?? 0, at));
  const rest = bytes.subarray(gaps.at(-1));
  return Buffer.concat([...pieces.flatMap((piece) => [piece, EMPTY_LINE]), rest]);
}

/** Replaces each header by what `readable` makes of it, and inserts the missing empty lines. */
export function withHeaders(
  bytes: Buffer,
  { headers, gaps }: Shape,
  readable: (header: Buffer) => Buffer,
): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end } of headers) {
    pieces.push(bytes.subarray(at, start), readable(bytes.subarray(start, end)));
    if (gaps.includes(end)) pieces.push(EMPTY_LINE);
    at = end;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}

/** The header at the top, or as much of it as the caps allow, ending with an empty line. */
export function topHeader(bytes: Buffer): Buffer {
  let start = 0;
  for (let lines = 0; lines < HEADER_LINES_MAX && start < bytes.length; lines += 1) {
    const found = bytes.indexOf(LF, start);
    const next = found === -1 ? bytes.length : found + 1;
    if (next > HEADER_MAX_BYTES || isEmptyLine(bytes, start, next)) break;
    start = next;
  }
  return Buffer.concat([bytes.subarray(0, start), Buffer.from('\r\n\r\n')]);
}

/** Follows the parts of a mail the way the parser does. */
class Scan {
  headerEnd: number | null = null;
  readonly headers: HeaderSpan[] = [];
  readonly gaps: number[] = [];
  readonly #bytes: Buffer;
  /** How deep the parts after each boundary are nested. */
  readonly #depths = new Map<string, number>();
  #pieces = 0;
  #parts = 0;
  #part = newPart(0, 0, true);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  line(start: number, next: number): Incomplete {
    this.#pieces += 1;
    if (this.#pieces > PIECES_MAX) return 'too_large';
    const delimiter = this.#delimiter(start, next);
    if (delimiter !== null) return this.#delimited(delimiter, next);
    if (this.#part.inHeader) return this.#headerLine(start, next);
    if (this.#part.isBase64) this.#countUnits(start, next);
    return null;
  }

  /** Nothing follows: an unfinished header may contain text. */
  end(): void {
    if (this.#part.inHeader) this.#endHeader(null);
  }

  /** The boundary on a line, without its dashes. RFC 2046 section 5.1.1 allows blanks after it. */
  #delimiter(start: number, next: number): { boundary: string; closes: boolean } | null {
    const bytes = this.#bytes;
    if (this.#depths.size === 0 || bytes[start] !== DASH || bytes[start + 1] !== DASH) return null;
    if (next - start > BOUNDARY_MAX_CHARS) return null;
    const boundary = bytes.toString('latin1', start + 2, next).replace(/[ \t\r\n]+$/, '');
    if (this.#depths.has(boundary)) return { boundary, closes: false };
    if (!boundary.endsWith('--')) return null;
    const closed = boundary.slice(0, -2);
    return this.#depths.has(closed) ? { boundary: closed, closes: true } : null;
  }

  #delimited(
    { boundary, closes }: { boundary: string; closes: boolean },
    next: number,
  ): Incomplete {
    // A boundary ends an unfinished header.
    if (this.#part.inHeader) this.#endHeader(null);
    const depth = this.#depths.get(boundary) ?? 0;
    if (closes) this.#part = { ...newPart(depth, next), inHeader: false };
    else {
      this.#parts += 1;
      this.#part = newPart(depth, next);
    }
    if (this.#parts > PARTS_MAX) return 'too_many_parts';
    return depth > DEPTH_MAX ? 'too_deep' : null;
  }

  #headerLine(start: number, next: number): Incomplete {
    const part = this.#part;
    if (isEmptyLine(this.#bytes, start, next)) {
      this.#endHeader(next);
      return null;
    }
    part.headerBytes += next - start;
    part.headerLines += 1;
    if (part.headerBytes > HEADER_MAX_BYTES || part.headerLines > HEADER_LINES_MAX) {
      if (part.gap === null) return 'too_large';
      this.#endHeader(null);
      return null;
    }
    const line = this.#bytes.toString('latin1', start, next).replace(/[\r\n]+$/, '');
    if (this.#opensParts(line)) {
      part.gap ??= start;
      this.#endHeader(null);
      return this.line(start, next);
    }
    this.#lookForText(line, start);
    part.end = next;
    return this.#takeField(line);
  }

  /** Whether a line in the header is the boundary that the header announced. */
  #opensParts(line: string): boolean {
    if (!line.startsWith('--')) return false;
    return line.slice(2).trimEnd() === boundaryOf(this.#part.fields['content-type']);
  }

  /** Text right after the header doesn't look like a field, and no known field follows it. */
  #lookForText(line: string, start: number): void {
    const part = this.#part;
    const isFirst = part.headerLines === 1;
    if (KNOWN_FIELD.test(line)) part.gap = null;
    else if (part.gap !== null || FIELD.test(line)) return;
    else if (isFirst ? !MAILBOX_LINE.test(line) : !/^[ \t]/.test(line)) part.gap = start;
  }

  /** Takes the first occurrence of a field, like the parser. */
  #takeField(line: string): Incomplete {
    const part = this.#part;
    if (/^[ \t]/.test(line)) {
      if (part.field !== null) part.fields[part.field] += line;
    } else {
      const name = /^([a-z-]+)[ \t]*:/i.exec(line)?.[1]?.toLowerCase();
      const known = name === 'content-type' || name === 'content-transfer-encoding';
      part.field = known && part.fields[name] === '' ? name : null;
      if (part.field !== null) part.fields[part.field] = line.slice(line.indexOf(':') + 1);
    }
    return part.fields['content-type'].length > CONTENT_TYPE_MAX_CHARS ? 'malformed' : null;
  }

  /** `end` is after the empty line; null if there is none. */
  #endHeader(end: number | null): void {
    const part = this.#part;
    part.inHeader = false;
    if (part.gap !== null) this.gaps.push(part.gap);
    this.headers.push({ start: part.start, end: part.gap ?? part.end });
    if (part.isTop) this.headerEnd = part.gap ?? end;
    part.isBase64 = /base64/i.test(part.fields['content-transfer-encoding']);
    const boundary = boundaryOf(part.fields['content-type']);
    if (boundary !== null) this.#depths.set(boundary, part.depth + 1);
  }

  #countUnits(start: number, next: number): void {
    for (let at = start; at < next; at += 1) {
      if (this.#bytes[at] === EQUALS) this.#pieces += PIECES_OF_A_UNIT;
    }
  }
}

function newPart(depth: number, start: number, isTop = false) {
  return {
    depth,
    start,
    /** After its last line so far. */
    end: start,
    isTop,
    /** Where text seems to start without an empty line before it. */
    gap: null as number | null,
    inHeader: true,
    isBase64: false,
    headerBytes: 0,
    headerLines: 0,
    field: null as 'content-type' | 'content-transfer-encoding' | null,
    fields: { 'content-type': '', 'content-transfer-encoding': '' },
  };
}

/** The boundary of a multipart, also if it's split into pieces (RFC 2231 section 3). */
function boundaryOf(contentType: string): string | null {
  if (!/^\s*multipart\//i.test(contentType)) return null;
  const parameter = /;\s*boundary(?:\*\d*\*?)?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/gi;
  const pieces = [...contentType.matchAll(parameter)].map(([, quoted, token]) =>
    quoted === undefined ? (token ?? '') : quoted.replace(/\\(.)/g, '$1'),
  );
  const whole = /;\s*boundary\s*=/i.test(contentType) ? pieces[0] : pieces.join('');
  return whole === undefined || whole === '' ? null : whole;
}

/** Like the parser, treats a line of only line ends as empty. */
function isEmptyLine(bytes: Buffer, start: number, next: number): boolean {
  for (let at = start; at < next; at += 1) {
    if (bytes[at] !== CR && bytes[at] !== LF) return false;
  }
  return true;
}
