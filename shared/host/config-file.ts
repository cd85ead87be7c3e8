import { readFileSync } from 'node:fs';
import { errorCode } from '../lib/guards.ts';

type Complain = (problem: string) => void;

/**
 * Reads settings from a file of `NAME=value` lines. Ignores empty lines and lines that start with `#`. A value may be
 * quoted; nothing in it is expanded. Reports problems with their line numbers, never with values.
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
