import type { Look } from './table.ts';
import { padToWidth, safeLine, textWidth } from './terminal-text.ts';

/** A name, its text, and how to color the text. */
export type Pair = readonly [name: string, text: string, paint?: (text: string) => string];

/** Names and texts in two columns, safe for a terminal. */
export function pairLines(
  pairs: readonly Pair[],
  look: Pick<Look, 'faint'>,
  indent = '',
): string[] {
  const names = pairs.map(([name]) => safeLine(name));
  const width = Math.max(0, ...names.map(textWidth));
  return pairs.map(([, text, paint], index) => {
    const name = look.faint(padToWidth(names[index] ?? '', width));
    const shown = safeLine(text);
    return `${indent}${name}  ${paint ? paint(shown) : shown}`.trimEnd();
  });
}
