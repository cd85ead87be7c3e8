import type { Look } from './table.ts';
import { safeJson } from './terminal-text.ts';

type Colors = Pick<Look, 'blue' | 'faint' | 'green' | 'yellow'>;

/** A string with the colon of a member's name, or any other scalar. Strings are matched whole, whatever they contain. */
const TOKEN = /("(?:[^"\\]|\\.)*")(:?)|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;

/**
 * Indented JSON in color. Line feeds and control characters in strings stay escaped, so that content can't fake lines.
 */
export function jsonLines(value: unknown, look: Colors, indent = ''): string[] {
  return safeJson(value, 2)
    .split('\n')
    .map((line) => indent + colored(line, look));
}

/** Colors one line of JSON. */
export function colored(line: string, look: Colors): string {
  return line.replace(TOKEN, (token: string, text?: string, colon?: string) => {
    if (text === undefined) return token === 'null' ? look.faint(token) : look.yellow(token);
    return colon ? `${look.blue(text)}:` : look.green(text);
  });
}
