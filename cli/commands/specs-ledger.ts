import type { CommandSpec, OptionSpec } from '../command.ts';

const ACCEPT: OptionSpec = {
  flag: 'accept',
  summary: 'Remember the history at hand from now on, if it is sound in itself',
};

/** All commands, with what `ledger verify` has beyond the interface. */
export function withLedgerCommands(commands: readonly CommandSpec[]): CommandSpec[] {
  return commands.map((command) =>
    command.words.join(' ') === 'ledger verify' ? verifying(command) : command,
  );
}

function verifying(command: CommandSpec): CommandSpec {
  const { words, summary, args, examples, load } = command;
  return {
    words,
    summary,
    args,
    load,
    description:
      'Names the first entry that does not fit, and compares with the newest entry this machine has seen: a ledger that was cut off or rewritten whole shows too. Exit code 1 when something is wrong.',
    examples: [...examples, 'ledger verify --accept'],
    // Made when asked for, as those of the command itself.
    get options() {
      return [...command.options, ACCEPT];
    },
  };
}
