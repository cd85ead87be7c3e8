// Agents choose the text of their requests. This makes it safe to show: readable, and nothing more.

/** The maximum width of a quoted line after its mark, so mail programs don't break it. */
const QUOTE_COLUMNS = 72;
const TAB = '    ';
/** Characters from here on may be two columns wide. */
const WIDE_FROM = 0x1100;

const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** Characters that look empty but have a width, so they could push text out of sight. They become blanks. */
const BLANK = /[\s\u115f\u1160\u2800\u3164\uffa0]/g;

/**
 * Invisible characters: controls, marks that reorder the visible text, fillers without width, tags and other carriers of
 * hidden text. Joiners stay, because emoji and some scripts need them.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- these are the characters to be removed
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\u034f/gu;

/** Puts a text on one line, with single blanks between words and at most `maxChars` characters; `…` marks a cut. */
export function oneLine(text: string, maxChars: number): string {
  const line = text
    .toWellFormed()
    .replace(LINE_END, ' ')
    .replace(BLANK, ' ')
    .replace(INVISIBLE, '')
    .replace(/ {2,}/g, ' ')
    .trim();
  const characters = Array.from(line);
  if (characters.length <= maxChars) return line;
  return `${characters
    .slice(0, maxChars - 1)
    .join('')
    .trimEnd()}…`;
}

/** The same in quotation marks, with none inside. */
export function named(text: string, maxChars: number): string {
  return `"${oneLine(text, maxChars).replaceAll('"', "'")}"`;
}

/**
 * Puts `> ` before every line and wraps long ones, so no line can pass for one that isn't quoted. Several empty lines in a
 * row become one.
 */
export function quote(text: string): string[] {
  const lines = text
    .toWellFormed()
    .replace(LINE_END, '\n')
    .split('\n')
    .map((line) => line.replaceAll('\t', TAB).replace(BLANK, ' ').replace(INVISIBLE, '').trimEnd());
  const kept = lines.filter((line, index) => line !== '' || lines[index - 1] !== '');
  return kept.flatMap(wrap).map((line) => (line === '' ? '>' : `> ${line}`));
}

/** Breaks a line after the last blank that fits, or inside a word that is longer than a line. */
function wrap(line: string): string[] {
  const lines: string[] = [];
  let current = '';
  let columns = 0;
  for (const character of line) {
    const width = widthOf(character);
    if (columns + width > QUOTE_COLUMNS) {
      const blank = current.lastIndexOf(' ');
      const end = blank > current.search(/\S/) ? blank : current.length;
      lines.push(current.slice(0, end).trimEnd());
      current = current.slice(end).trimStart();
      columns = Array.from(current).reduce((sum, one) => sum + widthOf(one), 0);
    }
    current += character;
    columns += width;
  }
  return [...lines, current];
}

/** Errs on the wide side. */
function widthOf(character: string): number {
  return (character.codePointAt(0) ?? 0) >= WIDE_FROM ? 2 : 1;
}
