import { hex } from '../../shared/lib/samples/fresh.ts';

const CRLF = '\r\n';
/** A body with longer lines, or with anything but ASCII, is encoded. */
const LINE_CHARS_MAX = 76;
/** In base64 these fit an encoded word, which may have 75 characters (RFC 2047 section 2). */
const WORD_BYTES_MAX = 42;
const HEADER_CHARS_MAX = 60;

type Header = readonly [name: string, value: string];

/** A mail (RFC 5322) or a part of one (RFC 2045). Body lines end with CR LF. */
interface Entity {
  readonly headers: readonly Header[];
  readonly body: string;
}

/** The mail as it's sent. */
export function written({ headers, body }: Entity): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [...lines, '', body].join(CRLF);
}

/** Adds headers before the existing ones. */
export function headed(headers: readonly Header[], { headers: own, body }: Entity): Entity {
  return { headers: [...headers, ...own], body };
}

/** A text part, left unencoded if possible. */
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

/** A part of ASCII lines for programs to read. */
export function fieldsPart(type: string, lines: readonly string[]): Entity {
  return { headers: [['Content-Type', type]], body: [...lines, ''].join(CRLF) };
}

/** Combines parts; `type` is for example `multipart/mixed`. */
export function multipart(type: string, parts: readonly Entity[]): Entity {
  const boundary = `=_${hex(32)}`;
  const pieces = parts.map((part) => `--${boundary}${CRLF}${written(part)}`);
  return {
    headers: [['Content-Type', `${type};${CRLF} boundary="${boundary}"`]],
    body: [...pieces, `--${boundary}--`, ''].join(CRLF),
  };
}

/** One line of text as a header value, encoded unless it's short ASCII (RFC 2047). */
export function headerText(text: string): string {
  const isPlain = /^[ -~]*$/.test(text) && !text.includes('=?');
  return isPlain && text.length <= HEADER_CHARS_MAX ? text : encodedWords(text);
}

/** The name before a mail address. */
export function phrase(name: string): string {
  return /^[A-Za-z0-9 ]{1,60}$/.test(name) ? name : encodedWords(name);
}

/** Encodes the text in words without splitting a character between two words. */
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
