/** The replacement for characters that are invisible or change how others are shown. */
const REPLACED = '\uFFFD';

/**
 * Control, format, private and ignorable characters and lone surrogates: they hide text, turn its direction or draw nothing.
 * Unassigned characters stay, because they include emoji newer than this runtime.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;
/** More marks on a letter than any language uses; they would cover neighbouring lines. */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu;
const EMOJI_BEFORE = /\p{Extended_Pictographic}[\u{1F3FB}-\u{1F3FF}]?\uFE0F?$/u;
const EMOJI_AFTER = /^\p{Extended_Pictographic}/u;

/**
 * Makes a text of several lines safe to show: invisible characters become visible, and line breaks are limited so that
 * they can't push away what follows.
 */
export function shownText(text: string): string {
  const lines = text.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n');
  return lines
    .replace(UNSHOWN, (char, at: number) => (isHarmless(lines, char, at) ? char : REPLACED))
    .replace(PILED_MARKS, `$1${REPLACED}`)
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+/, '')
    .trimEnd();
}

/** The same on one line. */
export function shownLine(text: string): string {
  return shownText(text).replace(/\s+/g, ' ').trimStart();
}

/** Line breaks, tabs and the joiners of emoji parts. */
function isHarmless(text: string, char: string, at: number): boolean {
  if (char === '\n' || char === '\t') return true;
  if (char !== '\uFE0F' && char !== '\u200D') return false;
  // Five units hold the longest part of an emoji: a picture, its tone and the selector.
  const isAfterEmoji = EMOJI_BEFORE.test(text.slice(Math.max(0, at - 5), at));
  return isAfterEmoji && (char === '\uFE0F' || EMOJI_AFTER.test(text.slice(at + 1, at + 3)));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Escapes text for HTML, including attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char);
}

const ELLIPSIS = '…';

/** Text as HTML of at most this many characters, cut between characters and never within an escape. */
export function fitHtml(text: string, maxChars: number): { html: string; isCut: boolean } {
  if (text.length <= maxChars) {
    const whole = escapeHtml(text);
    if (whole.length <= maxChars) return { html: whole, isCut: false };
  }
  let html = '';
  for (const char of text) {
    const escaped = escapeHtml(char);
    if (html.length + escaped.length + ELLIPSIS.length > maxChars) break;
    html += escaped;
  }
  return { html: html + ELLIPSIS, isCut: true };
}

/** Plain text of at most this many characters, cut between characters. */
export function fitText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let kept = '';
  for (const char of text) {
    if (kept.length + char.length + ELLIPSIS.length > maxChars) break;
    kept += char;
  }
  return kept + ELLIPSIS;
}
