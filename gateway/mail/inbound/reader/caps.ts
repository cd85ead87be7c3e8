import type { MailPayload } from '../read-mail.ts';

/** What a mail may be for its parts to be taken out of it. */
export const MAIL_MAX_BYTES = 25 * 1024 * 1024;
const PARTS_MAX = 200;
const DEPTH_MAX = 10;
const HEADER_MAX_BYTES = 64 * 1024;
const HEADER_LINES_MAX = 2000;
/** Headers of all parts together, for the parser. */
export const HEADERS_MAX_BYTES = PARTS_MAX * HEADER_MAX_BYTES;
/** Lines, and units of base64 that end within a line: the parser keeps an object for each of them. */
const PIECES_MAX = 1_000_000;
const PIECES_OF_A_UNIT = 4;
const CONTENT_TYPE_MAX_CHARS = 4000;
/** Far more than the 70 characters of RFC 2046 section 5.1.1. */
const BOUNDARY_MAX_CHARS = 1000;

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;
const EQUALS = 0x3d;

type Incomplete = MailPayload['incomplete'];

/** How a mail is built, as far as it matters for whether it can be read. */
export interface Shape {
  readonly incomplete: Incomplete;
  /** Where its own header ends, the empty line included; null when that is nowhere within the caps. */
  readonly headerEnd: number | null;
}

/** Goes over the bytes once, line by line, and stops at the first cap that is passed. */
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
  return { incomplete, headerEnd: scan.headerEnd };
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
  readonly #bytes: Buffer;
  /** How deep the parts behind a boundary lie. */
  readonly #depths = new Map<string, number>();
  #pieces = 0;
  #parts = 0;
  #part = newPart(0);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  line(start: number, next: number): Incomplete {
    this.#pieces += 1;
    if (this.#pieces > PIECES_MAX) return 'too_large';
    const delimiter = this.#delimiter(start, next);
    if (delimiter !== null) return this.#delimited(delimiter);
    if (this.#part.inHeader) return this.#headerLine(start, next);
    if (this.#part.isBase64) this.#countUnits(start, next);
    return null;
  }

  /** The boundary of a line that is one, without its dashes. RFC 2046 section 5.1.1 allows blanks behind it. */
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

  #delimited({ boundary, closes }: { boundary: string; closes: boolean }): Incomplete {
    // What a header still lacked is taken as it stands.
    if (this.#part.inHeader) this.#endHeader();
    const depth = this.#depths.get(boundary) ?? 0;
    if (closes) this.#part = { ...newPart(depth), inHeader: false };
    else {
      this.#parts += 1;
      this.#part = newPart(depth);
    }
    if (this.#parts > PARTS_MAX) return 'too_many_parts';
    return depth > DEPTH_MAX ? 'too_deep' : null;
  }

  #headerLine(start: number, next: number): Incomplete {
    const part = this.#part;
    if (isEmptyLine(this.#bytes, start, next)) {
      this.headerEnd ??= next;
      this.#endHeader();
      return null;
    }
    part.headerBytes += next - start;
    part.headerLines += 1;
    if (part.headerBytes > HEADER_MAX_BYTES) return 'too_large';
    if (part.headerLines > HEADER_LINES_MAX) return 'too_large';
    return this.#takeField(this.#bytes.toString('latin1', start, next).replace(/[\r\n]+$/, ''));
  }

  /** The parser takes the first of a field, so the scan does. */
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

  #endHeader(): void {
    const part = this.#part;
    part.inHeader = false;
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

function newPart(depth: number) {
  return {
    depth,
    inHeader: true,
    isBase64: false,
    headerBytes: 0,
    headerLines: 0,
    field: null as 'content-type' | 'content-transfer-encoding' | null,
    fields: { 'content-type': '', 'content-transfer-encoding': '' },
  };
}

/** Of a multipart; also where it was cut into pieces (RFC 2231 section 3). */
function boundaryOf(contentType: string): string | null {
  if (!/^\s*multipart\//i.test(contentType)) return null;
  const parameter = /;\s*boundary(?:\*\d*\*?)?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/gi;
  const pieces = [...contentType.matchAll(parameter)].map(([, quoted, token]) =>
    quoted === undefined ? (token ?? '') : quoted.replace(/\\(.)/g, '$1'),
  );
  const whole = /;\s*boundary\s*=/i.test(contentType) ? pieces[0] : pieces.join('');
  return whole === undefined || whole === '' ? null : whole;
}

/** The parser takes a line of nothing but line ends for empty, and so does the scan. */
function isEmptyLine(bytes: Buffer, start: number, next: number): boolean {
  for (let at = start; at < next; at += 1) {
    if (bytes[at] !== CR && bytes[at] !== LF) return false;
  }
  return true;
}
