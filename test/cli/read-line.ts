import type { CommandSpec } from '../../cli/command.ts';
import { CliError } from '../../cli/errors.ts';
import { pathOf } from '../../cli/input/refusals.ts';
import { HelpRequest, programOf, type ReadLine } from '../../cli/program.ts';
import { allCommands } from '../../cli/tree.ts';

const commands = allCommands();

/** A command line as it is read, without the command being run. */
export function readLine(words: readonly string[]): ReadLine & { readonly command: CommandSpec } {
  let read: (ReadLine & { readonly command: CommandSpec }) | undefined;
  const program = programOf(commands, (command, line) => {
    read = { command, ...line };
  });
  program.parse(words, { from: 'user' });
  if (!read) throw new Error(`Not a command: ${words.join(' ')}`);
  return read;
}

/** The name of the command that these words begin with, or of the noun that they are; null when they name nothing. */
export function nameIn(words: readonly string[]): string | null {
  try {
    readLine([...words, '--help']);
  } catch (error) {
    if (error instanceof HelpRequest && error.node) return pathOf(error.node).join(' ');
    if (error instanceof CliError) return null;
    throw error;
  }
  return null;
}
