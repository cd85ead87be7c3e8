/** A decoded mail from the outbox. */
export interface OutboxMail {
  readonly from: string;
  readonly to: string;
  readonly cc: string;
  /** The one who gets this copy, if To names others. */
  readonly deliveredTo: string | null;
  readonly subject: string;
  /** Milliseconds since 1970, or null if the mail has no valid date. */
  readonly date: number | null;
  /** The plain text part. */
  readonly text: string;
  /** The HTML part; null if there is none. */
  readonly html: string | null;
  /** Every header as it stands in the mail, decoded. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly attachments: readonly OutboxAttachment[];
  /** The only link in one of our own messages, or null. */
  readonly link: string | null;
}

/** A file that goes with a mail. */
interface OutboxAttachment {
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
}

/** Header values by lower-case name; the first value if a header repeats. */
type Headers = ReadonlyMap<string, string>;

/** A mail or one of its parts. Each character of a text is one byte. */
interface Part {
  readonly headers: Headers;
  readonly body: string;
}

const DEPTH_MAX = 4;
/** Our mailer never writes that many parts at one level. */
const PARTS_MAX = 20;
const YEAR_10000_MS = Date.UTC(10_000, 0, 1);

// The command line loads no packages, so this parser reads just what our own mailer writes: UTF-8, and the encodings and
// multiparts it uses. It reads other mail in the folder as well as it can, and never throws.

/** Reads a mail, or just its beginning. */
export function readMail(bytes: Buffer): OutboxMail {
  const { headers, body } = headersAndBody(bytes.toString('latin1'));
  const parts = partsOf({ headers, body }, 0);
  const shown = parts.filter((part) => !isAttached(part));
  const plain = shown.find(isPlainText);
  const text = plain ? textOf(plain) : '';
  const html = shown.find(isHtml);
  return {
    from: decodedHeader(headers, 'from'),
    to: decodedHeader(headers, 'to'),
    cc: decodedHeader(headers, 'cc'),
    deliveredTo: headers.get('delivered-to') ?? null,
    subject: decodedHeader(headers, 'subject'),
    date: dateOf(headers.get('date') ?? ''),
    text,
    html: html ? textOf(html) : null,
    headers: [...headers].map(([name, value]) => [name, decodedWords(value)]),
    attachments: parts.filter(isAttached).map(attachmentOf),
    link: headers.get('auto-submitted') === 'auto-generated' ? onlyLink(text) : null,
  };
}

/** A file that goes with a mail, by its place in `attachments`; null if there is none. */
export function attachedFile(
  bytes: Buffer,
  index: number,
): { readonly name: string; readonly bytes: Buffer<ArrayBuffer> } | null {
  const parts = partsOf(headersAndBody(bytes.toString('latin1')), 0);
  const part = parts.filter(isAttached)[index];
  if (!part) return null;
  const name = nameOf(part.headers.get('content-type') ?? '');
  return { name, bytes: Buffer.from(decodedBody(part), 'latin1') };
}

function dateOf(text: string): number | null {
  const at = Date.parse(text);
  return at >= 0 && at < YEAR_10000_MS ? at : null;
}

/** A line with nothing but a link. We quote the text of agents, so their links never stand alone. */
function onlyLink(text: string): string | null {
  const links = text.split('\n').filter((line) => /^https?:\/\/[!-~]+$/.test(line));
  return links.length === 1 ? (links[0] ?? null) : null;
}

function headersAndBody(text: string): Part {
  const gap = /\r?\n\r?\n/.exec(text);
  const head = gap ? text.slice(0, gap.index) : text;
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return { headers, body: gap ? text.slice(gap.index + gap[0].length) : '' };
}

/** The leaf parts of a mail, in order. */
function partsOf(part: Part, depth: number): Part[] {
  const { headers, body } = part;
  const type = headers.get('content-type') ?? '';
  const boundary = /^multipart\/[^;]+;.*\bboundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary === undefined) return /^multipart\//i.test(type) ? [] : [part];
  if (depth >= DEPTH_MAX) return [];
  // Skip the text before the first boundary and after the last one.
  const [, ...pieces] = `\r\n${body}`.split(`\r\n--${boundary}`);
  const end = pieces.findIndex((piece) => piece.startsWith('--'));
  return pieces
    .slice(0, end === -1 ? PARTS_MAX : Math.min(end, PARTS_MAX))
    .flatMap((piece) => partsOf(headersAndBody(piece.replace(/^\r?\n/, '')), depth + 1));
}

function isPlainText({ headers }: Part): boolean {
  return /^text\/plain\b/i.test(headers.get('content-type') ?? 'text/plain');
}

function isHtml({ headers }: Part): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '');
}

function textOf(part: Part): string {
  return utf8(decodedBody(part)).replaceAll('\r\n', '\n');
}

function isAttached({ headers }: Part): boolean {
  return /^attachment\b/i.test(headers.get('content-disposition') ?? '');
}

function attachmentOf(part: Part): OutboxAttachment {
  const type = part.headers.get('content-type') ?? '';
  return {
    name: nameOf(type),
    content_type: /^[^\s;]+/.exec(type)?.[0] ?? '',
    size_bytes: decodedBody(part).length,
  };
}

/** Reads the file name from Content-Type: there our mailer doesn't split it into RFC 2231 pieces. */
function nameOf(type: string): string {
  const [, quoted, bare] = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))/i.exec(type) ?? [];
  return decodedWords(quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '');
}

function decodedBody({ headers, body }: Part): string {
  switch (headers.get('content-transfer-encoding')?.toLowerCase()) {
    case 'quoted-printable':
      return hexDecoded(body.replace(/=[ \t]*\r?\n/g, ''));
    case 'base64':
      return Buffer.from(body, 'base64').toString('latin1');
    default:
      return body;
  }
}

const ENCODED_WORD = /=\?utf-8\?([bq])\?([^?\s]*)\?=/gi;

function decodedHeader(headers: Headers, name: string): string {
  return decodedWords(headers.get(name) ?? '');
}

/** Drops blanks between encoded words (RFC 2047 section 6.2), and decodes last: two words may share a character. */
function decodedWords(value: string): string {
  const joined = value.replace(/(=\?utf-8\?[bq]\?[^?\s]*\?=)[ \t]+(?==\?utf-8\?)/gi, '$1');
  return utf8(
    joined.replace(ENCODED_WORD, (_, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('latin1')
        : hexDecoded(text.replaceAll('_', ' ')),
    ),
  );
}

function hexDecoded(text: string): string {
  return text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
