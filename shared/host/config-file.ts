import { readFileSync } from 'node:fs';
import { errorCode } from '../lib/guards.ts';

type Complain = (problem: string) => void;

/**
 * Settings from a file of `NAME=value` lines. Empty lines and those that begin with `#` say nothing; a value may stand in
 * quotes, and nothing in it is expanded. What is wrong is told with the number of its line, without values.
 */
export function readConfigFile(path: string, complain: Complain): Record<string, string> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    complain(`The settings file ${path} can't be read (${errorCode(error) ?? 'unknown'}).`);
    return {};
  }
  const settings: Record<string, string> = Object.create(null);
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name = '', value = ''] = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? [];
    const where = `${path}, line ${index + 1}`;
    if (name === '') complain(`${where}: not in the form NAME=value.`);
    else if (name in settings) complain(`${where}: ${name} is set twice.`);
    else settings[name] = withoutQuotes(value.trim());
  }
  return settings;
}

function withoutQuotes(text: string): string {
  const isQuoted = text.length > 1 && /^(?:".*"|'.*')$/.test(text);
  return isQuoted ? text.slice(1, -1) : text;
}
