import { resolveHome } from '../daemon/home.ts';
import type { Client } from './client.ts';
import type { CommandContext, CommandSpec } from './command.ts';
import { EXIT } from './exit.ts';
import { CliError, usageError } from './errors.ts';
import { TerminalOutput, wantsColor, type Sink } from './view/output.ts';
import { typedProblem } from './view/typed-names.ts';
import { GLOBAL_OPTIONS, parseLine, type OptionValues } from './input/parse.ts';
import { allCommands, commandsUnder, findCommand, singular, type Found } from './tree.ts';

/** What a run takes from its process. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

/** Runs one command line and returns its exit code. */
export async function run(argv: readonly string[], around: Surroundings): Promise<number> {
  const output = outputFor(argv, around);
  try {
    return await dispatch(argv, around, output);
  } catch (error) {
    if (around.signal.aborted) return EXIT.interrupted;
    if (error instanceof CliError) {
      output.failure(error);
      return error.exit;
    }
    return bug(error, output);
  }
}

/** Read before the command is known, so that a wrong command line is also refused in the wanted form. */
function outputFor(argv: readonly string[], { env, stdout, stderr }: Surroundings): TerminalOutput {
  const end = argv.indexOf('--');
  const flags = new Set(end === -1 ? argv : argv.slice(0, end));
  return new TerminalOutput({
    stdout,
    stderr,
    json: flags.has('--json'),
    quiet: flags.has('--quiet'),
    color: wantsColor(stdout, env, flags.has('--no-color')),
  });
}

async function dispatch(
  argv: readonly string[],
  around: Surroundings,
  output: TerminalOutput,
): Promise<number> {
  const commands = allCommands();
  const { words, flags } = splitGlobals(argv, commands);
  if (words.length === 0 || words[0] === 'help' || flags.includes('--help')) {
    output.page(await helpFor(words[0] === 'help' ? words.slice(1) : words, commands, around));
    return EXIT.done;
  }
  const found = findCommand(words, commands);
  if (!found || namesNothing(found, commands)) {
    output.page(await groupPage(words, commands, around));
    return EXIT.done;
  }
  const { command, rest } = found;
  const { args, options } = parseLine(command, [...flags, ...rest]);
  if (options['help']) {
    output.page(await helpFor(command.words, commands, around));
    return EXIT.done;
  }
  output.tellProblems((path, message) => typedProblem(path, message, command));
  const module = await command.load();
  const context = await contextOf(command, { args, options }, around, output);
  try {
    const code = await module.run(context);
    return code ?? (around.signal.aborted ? EXIT.interrupted : EXIT.done);
  } catch (error) {
    throw context.tries.told(error);
  } finally {
    if (around.signal.aborted) context.tries.tellOpen();
  }
}

/** The words up to the end of the command's name, freed of global flags between them; the rest stays as it is. */
function splitGlobals(argv: readonly string[], commands: readonly CommandSpec[]) {
  const words: string[] = [];
  const flags: string[] = [];
  let index = 0;
  for (; index < argv.length; index += 1) {
    const text = argv[index] ?? '';
    const option = GLOBAL_OPTIONS.find(
      ({ flag, short }) => text === `--${flag}` || (short !== undefined && text === `-${short}`),
    );
    if (option) {
      flags.push(`--${option.flag}`);
      if (option.value !== undefined && index + 1 < argv.length)
        flags.push(argv[(index += 1)] ?? '');
    } else if (text.startsWith('-') || !continuesName([...words, text], commands)) {
      break;
    } else {
      words.push(text);
    }
  }
  return { words: [...words, ...argv.slice(index)], flags };
}

function continuesName(words: readonly string[], commands: readonly CommandSpec[]): boolean {
  return words[0] === 'help' || commandsUnder(words, commands).length > 0;
}

async function helpFor(
  words: readonly string[],
  commands: readonly CommandSpec[],
  around: Surroundings,
): Promise<string> {
  const { commandHelp, helpColumns, overview, topicHelp } = await import('./view/help.ts');
  const { TOPICS } = await import('./view/topics.ts');
  const columns = helpColumns(around.stdout.columns);
  const named = words.filter((word) => !word.startsWith('-'));
  if (named.length === 0) return overview(commands, columns);
  const topic = TOPICS.find(({ name }) => name === named.join(' '));
  if (topic) return topicHelp(topic, columns);
  const found = findCommand(named, commands);
  if (!found) return groupPage(named, commands, around);
  return commandHelp(found.command, commands, columns);
}

/** `svc gateway bakup`: the word behind a command that takes none, and that others go on from, was to be one of those. */
function namesNothing({ command, rest }: Found, commands: readonly CommandSpec[]): boolean {
  const [next] = rest;
  if (next === undefined || next.startsWith('-') || command.args.length > 0) return false;
  return commandsUnder(command.words, commands).length > 1;
}

/** Help for a noun alone; anything else that names no command is refused with what was meant. */
async function groupPage(
  words: readonly string[],
  commands: readonly CommandSpec[],
  around: Surroundings,
): Promise<string> {
  const { groupHelp, helpColumns, meantCommand } = await import('./view/help.ts');
  const members = commandsUnder(words, commands);
  if (members.length > 0) {
    return groupHelp(singular(words, commands), members, helpColumns(around.stdout.columns));
  }
  const named = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  if (named.length === 0) throw usageError(`Unknown flag ${words[0] ?? ''}.`, 'See: svc --help');
  if (named[0] === 'version') throw usageError('Unknown command "version".', 'See: svc --version');
  const [noun = '', ...others] = singular(named, commands);
  const meant = meantCommand([noun, ...others], commands);
  const known = commandsUnder([noun], commands).length > 0;
  throw usageError(
    `Unknown command "${named.join(' ')}".${meant === null ? '' : ` Did you mean "${meant}"?`}`,
    known ? `See: svc ${noun} --help` : 'See: svc --help',
  );
}

async function contextOf(
  command: CommandSpec,
  line: Pick<CommandContext, 'args' | 'options'>,
  { env, signal }: Surroundings,
  output: TerminalOutput,
): Promise<CommandContext> {
  const home = resolveHome(env);
  const { HttpClient } = await import('./client.ts');
  const { PersistentClient } = await import('./retry/persistent-client.ts');
  const { triesOf } = await import('./retry/write-options.ts');
  const warn = (text: string): void => output.note(text);
  let made: Client | undefined;
  const client = (): Client => {
    made ??= new HttpClient({ home, env, profile: profileOf(line.options), warn });
    return made;
  };
  const tries = triesOf(line, { output, signal, hasGateway: () => client().gateway !== null });
  const persistent = command.writes ? new PersistentClient(client, tries) : null;
  return { ...line, home, env, output, signal, tries, client: () => persistent ?? client() };
}

function profileOf({ profile }: OptionValues): string | undefined {
  return typeof profile === 'string' ? profile : undefined;
}

/** Anything that is no refusal is a fault of ours: only then is a stack of use. */
function bug(error: unknown, output: TerminalOutput): number {
  const message = error instanceof Error ? error.message : String(error);
  output.failure(
    new CliError({
      code: 'INTERNAL',
      message,
      hint: 'This is a fault of svc.',
      exit: EXIT.refused,
    }),
  );
  if (error instanceof Error) output.trace(error.stack ?? '');
  return EXIT.refused;
}
