import type { Command, CommanderError } from 'commander';
import type { ArgumentSpec, CommandSpec } from '../command.ts';
import { usageError, type CliError } from '../errors.ts';
import { nearest } from '../../shared/lib/suggest.ts';
import { GLOBAL_OPTIONS, optionsOf, WRITE_OPTIONS } from './flags.ts';

/** Where on the command line parsing failed. */
export interface ParseContext {
  readonly node: Command;
  /** Null if the words don't name a command yet. */
  readonly command: CommandSpec | null;
  readonly commands: readonly CommandSpec[];
}

/** Commander's errors in our own words, with the next step. */
export function refusalOf({ code, message }: CommanderError, place: ParseContext): CliError {
  const { node, command } = place;
  const [, quoted = ''] = /'(.*)'/s.exec(message) ?? [];
  switch (code) {
    case 'commander.unknownOption':
      return unknownFlag(quoted, place);
    case 'commander.missingArgument':
      return missing(`<${quoted}> is missing.`, command ?? { examples: [] });
    case 'commander.excessArguments':
      if (!command || namesCommands(node)) return unknownCommand(place);
      return usageError(
        `Unexpected argument "${node.args[command.args.length] ?? ''}".`,
        `Write it as: ${usageLine(command)}`,
      );
    case 'commander.unknownCommand':
      return unknownCommand(place);
    default:
      return usageError(message);
  }
}

/** Whether the next word must be a command's name, because this one takes no arguments itself. */
export function namesCommands({ commands, registeredArguments }: Command): boolean {
  return commands.length > 0 && registeredArguments.length === 0;
}

function unknownFlag(typed: string, { node, command }: ParseContext): CliError {
  const raw = typed.replace(/=.*$/s, '');
  const name = raw.replace(/^-+/, '');
  const line = lineOf(node);
  const hint = `See: ${line} --help`;
  const known = [...(command ? optionsOf(command) : []), ...GLOBAL_OPTIONS];
  if (raw !== typed && known.some(({ flag }) => flag === name)) {
    return usageError(`${raw} takes no value.`, `Write it as: ${raw}`);
  }
  const argument = command?.args.find((one) => one.name.replaceAll('_', '-') === name);
  if (argument)
    return usageError(`${raw} isn't a flag.`, `Write it as: ${line} ${usageOf(argument)}`);
  if (command && WRITE_OPTIONS.some(({ flag }) => flag === name)) {
    return usageError(`${raw} only works with commands that write.`, hint);
  }
  const negated = known.find(
    ({ flag, choices }) => choices?.includes('false') && `no-${flag}` === name,
  );
  if (negated) return usageError(`${raw} isn't a flag.`, `Write it as: --${negated.flag} false`);
  const meant = nearest(
    name,
    known.map(({ flag }) => flag),
  );
  return usageError(
    `Unknown flag ${raw}.${meant === null ? '' : ` Did you mean --${meant}?`}`,
    hint,
  );
}

/** Quotes the unknown words and suggests a command. */
function unknownCommand({ node, commands }: Pick<ParseContext, 'node' | 'commands'>): CliError {
  const path = pathOf(node);
  const given = node.args.filter((word) => !word.startsWith('-'));
  const named = [...typedPath(node), ...given].slice(0, Math.max(2, path.length + 1)).join(' ');
  if (named === 'version') return usageError('Unknown command "version".', 'See: svc --version');
  const meant = meantCommand([...path, ...given], commands);
  return usageError(
    `Unknown command "${named}".${meant === null ? '' : ` Did you mean "${meant}"?`}`,
    `See: ${lineOf(node)} --help`,
  );
}

/** The canonical names of the words: `['key', 'list']`, also for `keys list`. */
export function pathOf(node: Command): readonly string[] {
  return node.parent ? [...pathOf(node.parent), node.name()] : [];
}

/** The words as typed. */
function typedPath({ parent }: Command): readonly string[] {
  return parent ? [...typedPath(parent), parent.args[0] ?? ''] : [];
}

function lineOf(node: Command): string {
  return ['svc', ...pathOf(node)].join(' ');
}

/** Words that other programs use for the same action. */
const SAME_VERBS: readonly (readonly string[])[] = [
  ['ls', 'list'],
  ['rm', 'del', 'delete', 'remove', 'revoke'],
  ['new', 'create', 'add'],
  ['show', 'cat', 'read', 'view', 'get', 'load', 'status'],
  ['write', 'put', 'set', 'save'],
];

/** The command the user may have meant, or null. */
function meantCommand(
  [word = '', ...others]: readonly string[],
  commands: readonly CommandSpec[],
  at = 0,
): string | null {
  const names = [...new Set(commands.map(({ words }) => words[at] ?? ''))].filter(Boolean);
  const meant = names.includes(word)
    ? word
    : (nearest(word, names) ?? (at > 0 ? sameVerb(word, names) : null));
  if (meant === null) return null;
  const under = commands.filter(({ words }) => words[at] === meant);
  if (others.length === 0 || under.every(({ words }) => words.length === at + 1)) return meant;
  const further = meantCommand(others, under, at + 1);
  if (further !== null) return `${meant} ${further}`;
  return meant === word ? null : meant;
}

function sameVerb(verb: string, verbs: readonly string[]): string | null {
  const group = SAME_VERBS.find((words) => words.includes(verb)) ?? [];
  return verbs.find((one) => group.includes(one)) ?? null;
}

/** The error for a missing argument or option, with an example that has it. */
export function missing(message: string, command: Pick<CommandSpec, 'examples'>): CliError {
  const example = command.examples[0];
  return usageError(message, example === undefined ? null : `For example: svc ${example}`);
}

/** `svc inbox claim <event_id> [flags]` */
export function usageLine(command: CommandSpec): string {
  const flags = command.options.length > 0 ? ['[flags]'] : [];
  const [args, rest] = [false, true].map((last) =>
    command.args.filter(({ rest: takesAll = false }) => takesAll === last).map(usageOf),
  );
  return ['svc', ...command.words, ...(args ?? []), ...flags, ...(rest ?? [])].join(' ');
}

/** `<event_id>` or `[name]` */
export function usageOf({ name, required, rest }: ArgumentSpec): string {
  if (rest) return `-- <${name}>…`;
  return required ? `<${name}>` : `[${name}]`;
}
