import type { Look } from './table.ts';
import { padToWidth, safeLine, textWidth, wrapNote } from './terminal-text.ts';

/** A name, its text, and how to color the text. */
export type Pair = readonly [name: string, text: string, paint?: (text: string) => string];

const GAP = '  ';
/** In less room a text is left to the terminal. */
const NARROWEST = 20;

/** Names and texts in two columns, safe for a terminal. A text that doesn't fit is broken between words. */
export function pairLines(
  pairs: readonly Pair[],
  look: Pick<Look, 'columns' | 'faint'>,
  indent = '',
): string[] {
  const names = pairs.map(([name]) => safeLine(name));
  const width = Math.max(0, ...names.map(textWidth));
  const before = ' '.repeat(indent.length + width + GAP.length);
  const room = look.columns - before.length;
  return pairs.flatMap(([, text, paint], index) => {
    const name = look.faint(padToWidth(names[index] ?? '', width));
    const shown = safeLine(text);
    // A painted text is more than words, and so is one whose blanks mean something.
    const isWhole = paint !== undefined || room < NARROWEST || /\s\s/.test(shown);
    const [first = '', ...more] = isWhole ? [shown] : wrapNote(shown, room);
    const head = `${indent}${name}${GAP}${paint ? paint(first) : first}`.trimEnd();
    return [head, ...more.map((line) => before + line)];
  });
}
