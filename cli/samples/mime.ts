import { hex } from './fresh.ts';

const CRLF = '\r\n';
/** A body with longer lines is encoded, as is one of anything but ASCII. */
const LINE_CHARS_MAX = 76;
/** In base64 they fit into an encoded word, which may have 75 characters (RFC 2047 section 2). */
const WORD_BYTES_MAX = 42;
const HEADER_CHARS_MAX = 60;

type Header = readonly [name: string, value: string];

/** A mail (RFC 5322), or a part of one (RFC 2045). Lines of the body end with CR LF. */
interface Entity {
  readonly headers: readonly Header[];
  readonly body: string;
}

/** A mail as it travels. */
export function written({ headers, body }: Entity): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [...lines, '', body].join(CRLF);
}

/** With these headers before those it has. */
export function headed(headers: readonly Header[], { headers: own, body }: Entity): Entity {
  return { headers: [...headers, ...own], body };
}

/** A part of text, readable as it stands where that can be. */
export function textPart(type: string, text: string): Entity {
  const body = withLineEnds(text);
  const isShort = body.split(CRLF).every((line) => line.length <= LINE_CHARS_MAX);
  const isPlain = isShort && /^[\t\r\n -~]*$/.test(body);
  return {
    headers: [
      ['Content-Type', `${type}; charset=utf-8`],
      ['Content-Transfer-Encoding', isPlain ? '7bit' : 'base64'],
    ],
    body: isPlain ? body : base64Lines(body),
  };
}

/** A part of lines of ASCII that are for programs. */
export function fieldsPart(type: string, lines: readonly string[]): Entity {
  return { headers: [['Content-Type', type]], body: [...lines, ''].join(CRLF) };
}

/** Parts that stand together; `type` is such as `multipart/mixed`. */
export function multipart(type: string, parts: readonly Entity[]): Entity {
  const boundary = `=_${hex(32)}`;
  const pieces = parts.map((part) => `--${boundary}${CRLF}${written(part)}`);
  return {
    headers: [['Content-Type', `${type};${CRLF} boundary="${boundary}"`]],
    body: [...pieces, `--${boundary}--`, ''].join(CRLF),
  };
}

/** A text of one line as the value of a header: encoded where it is not short ASCII (RFC 2047). */
export function headerText(text: string): string {
  const isPlain = /^[ -~]*$/.test(text) && !text.includes('=?');
  return isPlain && text.length <= HEADER_CHARS_MAX ? text : encodedWords(text);
}

/** The name before an address. */
export function phrase(name: string): string {
  return /^[A-Za-z0-9 ]{1,60}$/.test(name) ? name : encodedWords(name);
}

/** No character is split between two of them. */
function encodedWords(text: string): string {
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_BYTES_MAX) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word]
    .map((one) => `=?UTF-8?B?${Buffer.from(one).toString('base64')}?=`)
    .join(`${CRLF} `);
}

function base64Lines(text: string): string {
  const lines =
    Buffer.from(text)
      .toString('base64')
      .match(/.{1,76}/g) ?? [];
  return [...lines, ''].join(CRLF);
}

function withLineEnds(text: string): string {
  return text.replace(/\r\n?|\n/g, CRLF);
}
