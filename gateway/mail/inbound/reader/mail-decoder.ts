import { windows1252 } from '../../../../shared/lib/windows-1252.ts';
import { charsetLabel, isCharset } from './charset-label.ts';

/** The escape that begins Japanese text in ISO-2022-JP, whose bytes are all ASCII. */
const JAPANESE = ['\u001b$@', '\u001b$B'];

/** Characters of UTF-8 beyond ASCII, with their bytes as characters. Not all of a large text at once: that's too much for the stack. */
const BEYOND_ASCII =
  /(?:[\u00c2-\u00df][\u0080-\u00bf]|\u00e0[\u00a0-\u00bf][\u0080-\u00bf]|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf]{2}|\u00ed[\u0080-\u009f][\u0080-\u00bf]|\u00f0[\u0090-\u00bf][\u0080-\u00bf]{2}|[\u00f1-\u00f3][\u0080-\u00bf]{3}|\u00f4[\u0080-\u008f][\u0080-\u00bf]{2}){1,1000}/g;

/** A text with more of them was never text. */
const PIECES_MAX = 100_000;

const META = /<meta\s[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i;
const META_WITHIN_CHARS = 4000;

const utf8 = new TextDecoder('utf-8', { fatal: true });
const japanese = new TextDecoder('iso-2022-jp');

type Input = Parameters<typeof utf8.decode>[0];

/**
 * Replaces `TextDecoder` in the thread that reads mails. Many mails name a wrong charset, or none that exists, and the
 * parser takes these for windows-1252. So what is valid UTF-8 is read as such, because hardly any other text is by chance,
 * and what isn't, though the mail says so, as windows-1252.
 */
export class MailDecoder extends TextDecoder {
  override decode(
    ...[input, options]: Parameters<InstanceType<typeof TextDecoder>['decode']>
  ): string {
    const isWestern = this.encoding === 'windows-1252';
    if (!isWestern && this.encoding !== 'utf-8') return super.decode(input, options);
    const text =
      asUtf8(input) ?? (isWestern ? as1252(input) : (asNamedInside(input) ?? asMixed(input)));
    return isWestern && JAPANESE.some((escape) => text.includes(escape))
      ? japanese.decode(input)
      : text;
  }
}

/** Null if the bytes aren't UTF-8. */
function asUtf8(input: Input): string | null {
  try {
    return utf8.decode(input);
  } catch {
    return null;
  }
}

/** HTML may name its charset itself; null if it doesn't, or nobody knows that one. */
function asNamedInside(input: Input): string | null {
  const label = META.exec(latin1(input).slice(0, META_WITHIN_CHARS))?.[1];
  if (label === undefined || !isCharset(charsetLabel(label))) return null;
  const decoder = new TextDecoder(charsetLabel(label));
  return decoder.encoding === 'utf-8' ? null : decoder.decode(input);
}

/** For a text with pieces of another one, such as the footer that a list adds: bytes that aren't UTF-8 are windows-1252. */
function asMixed(input: Input): string {
  const characters = latin1(input);
  let text = '';
  let at = 0;
  let pieces = 0;
  for (const { 0: piece, index } of characters.matchAll(BEYOND_ASCII)) {
    text +=
      windows1252(characters.slice(at, index)) + Buffer.from(piece, 'latin1').toString('utf8');
    at = index + piece.length;
    pieces += 1;
    if (pieces === PIECES_MAX) break;
  }
  return text + windows1252(characters.slice(at));
}

function as1252(input: Input): string {
  return windows1252(latin1(input));
}

function latin1(input: Input): string {
  if (!input) return '';
  const bytes = ArrayBuffer.isView(input)
    ? Buffer.from(input.buffer, input.byteOffset, input.byteLength)
    : Buffer.from(input);
  return bytes.toString('latin1');
}
