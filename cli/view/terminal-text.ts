import { stringifyExact } from '../../shared/lib/json/exact-json.ts';

// Terminals obey control sequences, so these functions remove them from outside text.

/** Control sequences: CSI, then OSC, DCS and similar with their content, then the short ones. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- these are the characters to be removed
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;

/**
 * Control characters except tab and line feed, marks that reorder text, and invisible tag characters. A joiner between
 * emoji stays.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- these are the characters to be removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Removes everything that a terminal would obey or that would reorder the text. */
export function safeText(text: string): string {
  return text.replace(SEQUENCES, '').replace(INVISIBLE, '');
}

/** A value as text: strings unchanged, anything else as JSON. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (stringifyExact(value) ?? '');
}

/** Safe text on one line. */
export function safeLine(text: string): string {
  return safeText(text.replace(/\s*\r?\n\s*|\t/g, ' '));
}

/** JSON with such characters escaped as `\uXXXX`: the same value, safe to print. */
export function safeJson(value: unknown, indent: number): string {
  const text = stringifyExact(value, indent) ?? 'null';
  // These line feeds are only indentation; strings have theirs escaped as `\n`.
  return text.replace(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, index) => hexEscape(character, index)).join(''),
  );
}

function hexEscape(character: string, index: number): string {
  return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
}

const MARKS = /[\p{Mn}\p{Me}\p{Cf}]/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
// oxlint-disable-next-line no-control-regex -- the range of plain ASCII
const ASCII = /^[\u0020-\u007e]*$/;

/** A safe text's width in terminal columns. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

function widthOf(character: string): number {
  if (MARKS.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Cuts the text to this many columns and marks the cut with `…`. */
export function cutToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let cut = '';
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/** Pads the text with blanks to this many columns. */
export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}

/** Breaks a text between words into lines of at most this many columns. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** A command with its words, up to the end of its clause. */
const COMMAND = /\b(?:npx )?svc (?:[^\s.,;()]|\.\S|[ ](?=[^\s(]))+/g;
/** Holds a command's words together. Outside text has lost it already. */
const GLUE = '\u0000';

/** Breaks a note between words, but not within a command that fits on a line of its own. Keeps its indentation. */
export function wrapNote(text: string, columns: number): string[] {
  if (textWidth(text) <= columns) return [text];
  const [indent = ''] = /^ */.exec(text) ?? [];
  const glued = text.replace(COMMAND, (command) =>
    textWidth(command) < columns ? command.replaceAll(' ', GLUE) : command,
  );
  const lines = wrapText(glued.trimStart(), columns - indent.length);
  return lines.map((line) => indent + line.replaceAll(GLUE, ' '));
}

/** A note with something in front, such as a mark: broken between words, and below where it begins. */
export function hangingNote(
  lead: string,
  text: string,
  columns: number,
  width = textWidth(lead),
): string[] {
  const [first = '', ...more] = wrapNote(text, columns - width);
  return [lead + first, ...more.map((line) => ' '.repeat(width) + line)];
}

/** Quotes the text as one shell word, unless a shell would leave it alone. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
