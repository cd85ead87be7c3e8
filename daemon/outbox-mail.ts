/** A mail of the outbox, decoded. */
export interface OutboxMail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** Milliseconds since 1970, or null where the mail does not say. */
  readonly date: number | null;
  /** The part in plain text. */
  readonly text: string;
  /** The one link of a letter of ours, or null. */
  readonly link: string | null;
}

/** Header values by their names in lower case; of a name that stands there twice the first. */
type Headers = ReadonlyMap<string, string>;

const DEPTH_MAX = 4;
const YEAR_10000_MS = Date.UTC(10_000, 0, 1);

// The command line loads no package, so what our own mailer writes is read here, and nothing more: UTF-8, and the encodings
// and multiparts that it uses. Whatever else lies in the folder is read as well as it goes, and never an error.

/** Reads a mail, or the beginning of one. */
export function readMail(bytes: Buffer): OutboxMail {
  const { headers, body } = headersAndBody(bytes.toString('latin1'));
  const text = plainPart(headers, body, 0) ?? '';
  return {
    from: decodedHeader(headers, 'from'),
    to: decodedHeader(headers, 'to'),
    subject: decodedHeader(headers, 'subject'),
    date: dateOf(headers.get('date') ?? ''),
    text,
    link: headers.get('auto-submitted') === 'auto-generated' ? onlyLink(text) : null,
  };
}

function dateOf(text: string): number | null {
  const at = Date.parse(text);
  return at >= 0 && at < YEAR_10000_MS ? at : null;
}

/** A line that is a link and nothing else. What agents write is quoted, so theirs never is. */
function onlyLink(text: string): string | null {
  const links = text.split('\n').filter((line) => /^https?:\/\/[!-~]+$/.test(line));
  return links.length === 1 ? (links[0] ?? null) : null;
}

/** Texts hold a byte a character here. */
function headersAndBody(text: string): { headers: Headers; body: string } {
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

function plainPart(headers: Headers, body: string, depth: number): string | null {
  const type = headers.get('content-type') ?? 'text/plain';
  if (/^text\/plain\b/i.test(type)) {
    return utf8(decodedBody(body, headers)).replaceAll('\r\n', '\n');
  }
  const boundary = /^multipart\/[^;]+;.*\bboundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary === undefined || depth >= DEPTH_MAX) return null;
  // Before the first boundary stands nothing, and behind the last one nothing that counts.
  const [, ...parts] = `\r\n${body}`.split(`\r\n--${boundary}`);
  for (const part of parts) {
    if (part.startsWith('--')) break;
    const inner = headersAndBody(part.replace(/^\r?\n/, ''));
    const text = plainPart(inner.headers, inner.body, depth + 1);
    if (text !== null) return text;
  }
  return null;
}

function decodedBody(body: string, headers: Headers): string {
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

/** Blanks between encoded words belong to neither; a character may be split between two. */
function decodedHeader(headers: Headers, name: string): string {
  const value = headers.get(name) ?? '';
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
