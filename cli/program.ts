import { Argument, Command } from 'commander';
import type { CommandContext, CommandSpec } from './command.ts';
import { Flag, GLOBAL_OPTIONS, joined, optionsOf } from './input/flags.ts';
import { missing, namesCommands, pathOf, refusalOf } from './input/refusals.ts';

/** A parsed command line. */
export type ReadLine = Pick<CommandContext, 'args' | 'options'>;

type Start = (command: CommandSpec, line: ReadLine) => Promise<void> | void;

/** Thrown to show a help page instead of running the command. */
export class HelpRequest extends Error {
  /** The command the page is about; null if the typed words may name a page or a command. */
  readonly node: Command | null;
  readonly words: readonly string[];

  constructor(node: Command | null, words: readonly string[] = []) {
    super('Help is wanted.');
    this.node = node;
    this.words = words;
  }
}

/** Builds commander's program. `start` gets the typed command once its line is parsed and valid. */
export function programOf(commands: readonly CommandSpec[], start: Start): Command {
  const program = new Part('svc')
    .helpCommand(false)
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => undefined });
  grow(program, commands, start);
  for (const noun of program.commands) noun.alias(`${noun.name()}s`);
  program
    .command('help')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[page...]')
    .action((page: readonly string[]) => {
      throw new HelpRequest(
        null,
        page.filter((word) => !word.startsWith('-')),
      );
    });
  return program;
}

class Part extends Command {
  override createCommand(name?: string): Command {
    return new Part(name);
  }

  override parseOptions(words: string[]): ReturnType<Command['parseOptions']> {
    const isName = (word: string): boolean => this.commands.some((one) => isCalled(one, word));
    return super.parseOptions(helpLater(joined(words, this.options, isName), isName));
  }

  override outputHelp(): never {
    const [word] = this.args;
    const namesNothing = word !== undefined && !word.startsWith('-') && namesCommands(this);
    if (namesNothing) this.error('', { code: 'commander.unknownCommand' });
    throw new HelpRequest(this);
  }
}

function isCalled(node: Command, word: string): boolean {
  return node.name() === word || node.aliases().includes(word);
}

/** Moves `--help` behind the command's name, so that `--help inbox claim` is about that command. */
function helpLater(words: readonly string[], isName: (word: string) => boolean): string[] {
  const at = words.findIndex((word) => word === '--' || isName(word));
  const before = words.slice(0, Math.max(at, 0));
  const rest = before.filter((word) => word !== '--help' && word !== '-h');
  if (rest.length === before.length || words[at] === '--') return [...words];
  return [...rest, words[at] ?? '', '--help', ...words.slice(at + 1)];
}

/** Adds a command's flags, arguments and subcommands; each subcommand is filled in only when the line reaches it. */
function grow(node: Command, commands: readonly CommandSpec[], start: Start): void {
  const path = pathOf(node);
  const command = commands.find(({ words }) => words.length === path.length) ?? null;
  const under = new Set(commands.map(({ words }) => words[path.length] ?? ''));
  under.delete('');
  for (const name of under) node.command(name);
  node.hook('preSubcommand', (_, next) => {
    const of = commands.filter(({ words }) => words[path.length] === next.name());
    if (of.length > 0) grow(next, of, start);
    for (const [name, value] of Object.entries(node.opts())) next.setOptionValue(name, value);
  });
  node.exitOverride((error) => {
    throw refusalOf(error, { node, command, commands });
  });
  const own = command ? optionsOf(command) : [];
  const flags = [...own, ...GLOBAL_OPTIONS].filter(({ flag }) => flag !== 'help');
  for (const option of flags) {
    node.addOption(new Flag(option));
    if (option.former !== undefined) node.addOption(new Flag(option, option.former));
  }
  if (command) declare(node, command, start);
}

function declare(node: Command, command: CommandSpec, start: Start): void {
  for (const { name, required, rest = false } of command.args) {
    const words = rest ? `${name}...` : name;
    const argument = new Argument(required ? `<${words}>` : `[${words}]`);
    argument.argParser((text: string) => {
      if (required && text === '') throw missing(`<${name}> is missing.`, command);
      return text;
    });
    node.addArgument(argument);
  }
  node.action(() => {
    const args = command.args.map(
      ({ name, rest }, at) => [name, rest ? node.args.slice(at) : node.args[at]] as const,
    );
    return start(command, { args: Object.fromEntries(args), options: node.opts() });
  });
}
