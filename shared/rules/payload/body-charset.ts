import { isUtf8 } from 'node:buffer';
import { windows1252 } from '../../lib/windows-1252.ts';

const HIGH_ESCAPE = /%[89a-fA-F][0-9a-fA-F]/;

/** The declared charset under its usual name; null for UTF-8, for none, and for one that nobody knows. */
export function charsetOf(contentType: string | undefined): string | null {
  return known(/;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1]);
}

/** The charset that a form names in a field, as PayPal's notices and HTML forms do. */
export function formCharset(form: string): string | null {
  return known(/(?:^|&)(?:_charset_|charset)=([\w.:-]+)(?:&|$)/i.exec(form)?.[1]);
}

function known(label: string | undefined): string | null {
  if (label === undefined) return null;
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === 'utf-8' ? null : encoding;
  } catch {
    return null;
  }
}

/** The text that these bytes are in this charset (null: UTF-8), without a byte order mark; null if they aren't any. */
export function decoded(bytes: Uint8Array, charset: string | null): string | null {
  if (charset === null && !isUtf8(bytes)) return null;
  try {
    const text = new TextDecoder(charset ?? 'utf-8', { fatal: true }).decode(bytes);
    return charset === 'windows-1252' ? windows1252(text) : text;
  } catch {
    return null;
  }
}

/** A form's pairs, its bytes read in this charset (null: UTF-8); null if some aren't in it. */
export function formPairs(form: string, charset: string | null): [string, string][] | null {
  // URLSearchParams drops a leading `?`, but in a body it is part of a name.
  if (!HIGH_ESCAPE.test(form)) return [...new URLSearchParams(`&${form}`)];
  const pairs: [string, string][] = [];
  for (const piece of form.split('&')) {
    if (piece === '') continue;
    const at = piece.indexOf('=');
    const name = unescaped(at === -1 ? piece : piece.slice(0, at), charset);
    const value = at === -1 ? '' : unescaped(piece.slice(at + 1), charset);
    if (name === null || value === null) return null;
    pairs.push([name, value]);
  }
  return pairs;
}

/** A part of a form; what isn't escaped is text already. */
function unescaped(text: string, charset: string | null): string | null {
  const spaced = text.replaceAll('+', ' ');
  let isRight = true;
  const plain = spaced.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (escapes) => {
    const part = decoded(Buffer.from(escapes.replaceAll('%', ''), 'hex'), charset);
    if (part === null) isRight = false;
    return part ?? '';
  });
  return isRight ? plain : null;
}
