import { reworded } from '../../shared/api/names.ts';
import type { CommandSpec } from '../command.ts';
import { CallError, type CliError } from '../errors.ts';
import { usageOf } from '../input/refusals.ts';
import { operationShapes } from '../shapes/operations.ts';

type CommandNames = Pick<CommandSpec, 'args' | 'options'>;

/** An API name, unless it's part of an answer, such as `details.retry_after`. */
const NAME = /(?<![\w.])[a-z]+(?:_[a-z]+)+(?!\w)/g;

/** How the service names an operation over REST. */
const ROUTE = /\b(?:GET|POST|PUT|DELETE) \/v1\/[\w{}/-]*[\w}]/g;

/** A problem with a field, with fields named as this command line names them. */
export function typedProblem(path: string, message: string, command: CommandNames): string {
  const [name = ''] = /^\w+/.exec(path) ?? [];
  if (path === 'Idempotency-Key') return `--idempotency-key: ${message}`;
  const typed = (typedName(name, command) ?? name) + path.slice(name.length);
  // A word without `_`, such as `type`, is usually just a word.
  const told = message.replace(NAME, (word) => typedName(word, command) ?? commandOf(word) ?? word);
  return typed === '' ? told : `${typed}: ${told}`;
}

/** The next step for this command; the service words it for API callers. */
export function typedHint(error: CliError): string | null {
  const { code, hint } = error;
  if (!(error instanceof CallError) || hint === null) return hint;
  const told = typedNames(hint);
  switch (code) {
    case 'SOURCE_NAME_TAKEN':
      return `${told} See what is there: svc source list`;
    case 'UNAUTHENTICATED':
      return 'Check SVC_API_KEY if it is set, else the key of the profile: svc project list';
    case 'CALLBACK_URL_REJECTED':
      return `${told} For a receiver on this machine: svc listen --forward URL, or a daemon started with SVC_CALLBACK_ALLOW=127.0.0.0/8.`;
    default:
      return told;
  }
}

/** Names commands as this program was started, such as `npx svc up`; leaves `svc` alone where it's just a name. */
export function typedCommands(
  text: string,
  commands: readonly CommandSpec[],
  ownCommand: () => string,
): string {
  if (!text.includes('svc ')) return text;
  const word = ownCommand();
  if (word === 'svc') return text;
  const nouns = [
    ...new Set(commands.map(({ words }) => words[0])),
    'help',
    '--help',
    '--version',
    '<command>',
  ];
  const started = new RegExp(`(?<![\\w./-])svc(?= (?:${nouns.join('|')})(?![\\w-]))`, 'g');
  return text.replace(started, () => word);
}

/** Replaces routes and operation names in the service's text with commands. */
export function typedNames(text: string): string {
  const named = text.replace(ROUTE, (route) => nameOf(route) ?? route);
  return named.replace(NAME, (word) => commandOf(word) ?? word);
}

/** An answer whose hints name commands. */
export function typedAnswer(answer: unknown): unknown {
  return reworded(answer, typedNames);
}

/** `inbox_list` for `GET /v1/inbox`; null if no operation has this route. */
function nameOf(route: string): string | null {
  const shape = operationShapes.find(
    ({ method, path }) => `${method} ${path.replace('+}', '}')}` === route,
  );
  return shape?.name ?? null;
}

/** `svc inbox list` for `inbox_list`; null if the word isn't an operation. */
function commandOf(name: string): string | null {
  const shape = operationShapes.find((one) => one.name === name);
  return shape ? `svc ${shape.words.join(' ')}` : null;
}

/** `--lease-seconds` for `lease_seconds`, `<event_id>` for `event_id`; null if the command doesn't have it. */
function typedName(name: string, { args, options }: CommandNames): string | null {
  const argument = args.find((one) => one.name === name);
  if (argument) return usageOf(argument);
  const flag = name.replaceAll('_', '-');
  // The commands that ask name their event with --event.
  const known = [flag, flag.replace(/-id$/, '')];
  const option = options.find((one) => known.includes(one.former ?? one.flag));
  return option ? `--${option.flag}` : null;
}
