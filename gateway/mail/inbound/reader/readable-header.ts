import { isUtf8 } from 'node:buffer';
import { charsetLabel, isCharset } from './charset-label.ts';
import { MailDecoder } from './mail-decoder.ts';

/** Where a mail names its charset for the first time: the top of it is enough. */
const LOOKED_AT_BYTES = 64 * 1024;

const LF = 0x0a;

const CHARSET = /([\s;]charset[ \t]*=[ \t]*)(?:"([^"\r\n]{0,80})"|([^\s;"]{1,80}))/gi;
const EXTENDED = /(\*\s*=\s*"?)([\w.-]{2,40})(?=')/g;
const WORD = /=\?([^?\s*]{1,80})(?:\*[^?\s]{0,40})?\?([bq])\?([^?]*)\?=/gi;
/** Several encoded words with nothing but white space between them. */
const WORDS = /=\?[^?\s]{1,120}\?[bq]\?[^?]*\?=(?:[ \t\r\n]*=\?[^?\s]{1,120}\?[bq]\?[^?]*\?=)+/gi;

/** The first charset that a mail names anywhere: its raw bytes in a header are most likely in that one, too. */
export function charsetOf(mail: Buffer): string {
  const text = mail.toString('latin1', 0, LOOKED_AT_BYTES);
  const named = /charset[ \t]*=[ \t]*"?([^\s;"]{1,80})/i.exec(text)?.[1] ?? '';
  const label = charsetLabel(named);
  return isCharset(label) ? label : 'windows-1252';
}

/**
 * A header as the parser can read it: in UTF-8, with charsets spelled as the Encoding Standard does, and with each run of
 * encoded words (RFC 2047) joined, because many programs split a character between two of them. `charset` is for lines
 * that aren't UTF-8.
 */
export function readableHeader(header: Buffer, charset: string): Buffer {
  const text = isUtf8(header) ? header.toString('utf8') : decoded(header, charset);
  const readable = text
    .replaceAll(CHARSET, (_all, start: string, quoted?: string, token?: string) => {
      return `${start}"${charsetLabel(quoted ?? token ?? '')}"`;
    })
    .replaceAll(EXTENDED, (_all, start: string, label: string) => start + charsetLabel(label))
    .replaceAll(WORDS, joined)
    .replaceAll(WORD, (_all, label: string, encoding: string, content: string) => {
      return `=?${charsetLabel(label)}?${encoding}?${content}?=`;
    });
  return readable === text && isUtf8(header) ? header : Buffer.from(readable, 'utf8');
}

/** Line by line: a server may have added some in UTF-8. */
function decoded(header: Buffer, charset: string): string {
  const decoder = new MailDecoder(charset);
  let text = '';
  for (let start = 0; start < header.length;) {
    const found = header.indexOf(LF, start);
    const next = found === -1 ? header.length : found + 1;
    const line = header.subarray(start, next);
    text += isUtf8(line) ? line.toString('utf8') : decoder.decode(line);
    start = next;
  }
  return text;
}

/** Joins the bytes of neighbours in one charset. */
function joined(run: string): string {
  const groups: {
    readonly label: string;
    readonly words: { encoding: string; content: string }[];
  }[] = [];
  for (const [, given = '', encoding = '', content = ''] of run.matchAll(WORD)) {
    const label = charsetLabel(given);
    const last = groups.at(-1);
    const word = { encoding: encoding.toLowerCase(), content };
    if (last?.label === label) last.words.push(word);
    else groups.push({ label, words: [word] });
  }
  const words = groups.map(({ label, words: parts }) => `=?${label}?B?${base64(parts)}?=`);
  return words.join(' ');
}

function base64(words: readonly { readonly encoding: string; readonly content: string }[]): string {
  const pieces: Buffer[] = [];
  let open = '';
  for (const { encoding, content } of words) {
    if (encoding === 'q') {
      pieces.push(Buffer.from(open, 'base64'), quotedPrintable(content));
      open = '';
      continue;
    }
    // Without padding, the next word may go on with the same group.
    open += content.replace(/[^a-z0-9+/=]/gi, '');
    if (open.endsWith('=') || open.length % 4 === 0) {
      pieces.push(Buffer.from(open, 'base64'));
      open = '';
    }
  }
  return Buffer.concat([...pieces, Buffer.from(open, 'base64')]).toString('base64');
}

function quotedPrintable(content: string): Buffer {
  const bytes = Buffer.from(content.replace(/=\s+(?=[0-9a-f])/gi, '=').replace(/[_\s]/g, ' '));
  const text = bytes.toString('latin1').replace(/=([0-9a-f]{2})/gi, (_all, hex: string) => {
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
  return Buffer.from(text, 'latin1');
}
