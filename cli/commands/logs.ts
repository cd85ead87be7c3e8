import { readableLogLine } from '../../daemon/log/log-line.ts';
import { followLines, lastLines } from '../../daemon/log/log-tail.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import { usageError } from '../errors.ts';

export const declaration: Declaration = {
  summary: "Show the daemon's log.",
  description: 'Readable on a terminal; raw JSON lines in a pipe.',
  args: [],
  options: [
    { flag: 'follow', short: 'f', summary: 'Follow new lines until Ctrl-C' },
    { flag: 'lines', short: 'n', value: 'N', summary: 'How many lines to show (default 50)' },
  ],
  examples: ['logs', 'logs -f', "logs -n 500 | jq 'select(.level >= 50)'"],
  seeAlso: ['status', 'doctor'],
};

const DEFAULT_LINES = 50;

/** `svc logs`: the end of the daemon's log, readable on a terminal and unchanged elsewhere. */
export async function run({ options, home, output, signal }: CommandContext): Promise<number> {
  const count = lineCount(options['lines']);
  const print = (line: string): void => output.line(output.json ? line : readableLogLine(line));
  const lines = await lastLines(home.logFile, count);
  lines.forEach(print);
  if (options['follow'] !== true) {
    if (lines.length === 0) output.note(`${home.logFile} is empty so far.`);
    return EXIT.done;
  }
  await followLines(home.logFile, print, signal);
  return EXIT.interrupted;
}

function lineCount(given: CommandContext['options'][string]): number {
  if (given === undefined) return DEFAULT_LINES;
  const count = Number(given);
  if (typeof given === 'string' && /^\d{1,7}$/.test(given)) return count;
  throw usageError(`--lines must be a number, not "${String(given)}".`);
}
