import { parseArgs } from 'node:util';
import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command.ts';
import { usageError, type CliError } from '../errors.ts';
import { nearest } from '../../shared/suggest.ts';

/** Flags that every command takes. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flag: 'json', summary: 'Answer and errors as JSON.' },
  {
    flag: 'profile',
    value: 'NAME',
    summary: 'Use the key stored under this name.',
    stored: 'profiles',
  },
  { flag: 'quiet', summary: 'No notes and no spinner.' },
  { flag: 'no-color', summary: 'No colours; NO_COLOR does the same.' },
  { flag: 'help', short: 'h', summary: 'Show help with examples.' },
];

/** Flags of every command that writes. */
export const WRITE_OPTIONS: readonly OptionSpec[] = [
  {
    flag: 'idempotency-key',
    value: 'KEY',
    summary: 'Repeats with this key have one effect, for 24 hours (a new key).',
  },
  {
    flag: 'retry-for',
    value: 'TIME',
    summary: 'Try again this long when it cannot be done just now: 60s, 5m, 1h.',
  },
];

/** The flags that a command takes beside those of every command. */
export function optionsOf({
  options,
  writes,
}: Pick<CommandSpec, 'options' | 'writes'>): readonly OptionSpec[] {
  return writes ? [...options, ...WRITE_OPTIONS] : options;
}

export type OptionValues = Readonly<
  Record<string, string | boolean | readonly string[] | undefined>
>;

export interface ParsedLine {
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: OptionValues;
}

interface Token {
  readonly kind: 'option' | 'positional' | 'option-terminator';
  readonly index: number;
  readonly name?: string;
  readonly rawName?: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** Reads what stands behind the words of a command. Refuses unknown flags and wrong choices, naming what was meant. */
export function parseLine(command: CommandSpec, rest: readonly string[]): ParsedLine {
  const known = [...optionsOf(command), ...GLOBAL_OPTIONS];
  const { tokens } = parseArgs({
    args: [...rest],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(known.map((option) => [option.flag, parserOption(option)])),
  });
  const options: Record<string, string | boolean | readonly string[]> = Object.create(null);
  const positionals: string[] = [];
  let taken = -1;
  for (const token of tokens as readonly Token[]) {
    if (token.index === taken) continue;
    if (token.kind === 'positional') positionals.push(token.value ?? '');
    if (token.kind !== 'option') continue;
    const option = known.find(({ flag }) => flag === token.name);
    if (!option) throw unknownFlag(token.rawName ?? '', command, known);
    const choice = token.inlineValue ? undefined : choiceIn(option, rest[token.index + 1]);
    if (choice !== undefined) taken = token.index + 1;
    store(options, option, valueOf(option, choice ?? token.value, token));
  }
  return { args: placeArguments(command, positionals, options), options };
}

function parserOption(option: OptionSpec) {
  const type = option.value === undefined || mayLeaveOut(option) ? 'boolean' : 'string';
  return { type, ...(option.short !== undefined && { short: option.short }) } as const;
}

/** `[true|false]`: the flag may stand alone. */
function mayLeaveOut(option: OptionSpec): boolean {
  return option.value?.startsWith('[') ?? false;
}

/** The next word, where it is a value that a flag may also do without. */
function choiceIn(option: OptionSpec, next: string | undefined): string | undefined {
  return mayLeaveOut(option) ? option.choices?.find((choice) => choice === next) : undefined;
}

function valueOf(option: OptionSpec, value: string | undefined, token: Token): string | true {
  const name = `--${option.flag}`;
  if (option.value === undefined) {
    if (value !== undefined) throw usageError(`${name} takes no value.`, `Write it as: ${name}`);
    return true;
  }
  const text = value ?? (mayLeaveOut(option) ? option.choices?.[0] : undefined);
  // `--type --limit 5` is a forgotten value; one that truly starts so is written `--type=--limit`.
  const forgotten = text === undefined || (!token.inlineValue && /^--?[a-z]/i.test(text));
  if (forgotten) throw usageError(`${name} needs a value.`, `Write it as: ${name} ${option.value}`);
  checkChoices(option, text);
  return text;
}

function checkChoices({ flag, choices, repeatable }: OptionSpec, text: string): void {
  if (!choices) return;
  for (const word of repeatable ? text.split(',').map((part) => part.trim()) : [text]) {
    if (choices.includes(word)) continue;
    const meant = nearest(word, choices);
    throw usageError(
      `--${flag} cannot be "${word}".${meant === null ? '' : ` Did you mean "${meant}"?`}`,
      `It is one of: ${choices.join(', ')}`,
    );
  }
}

function store(
  options: Record<string, string | boolean | readonly string[]>,
  { flag, repeatable }: OptionSpec,
  value: string | true,
): void {
  const before = options[flag];
  if (repeatable && value !== true) {
    options[flag] = Array.isArray(before) ? [...(before as readonly string[]), value] : [value];
    return;
  }
  if (before !== undefined && value !== true) throw usageError(`--${flag} is given twice.`);
  options[flag] = value;
}

function unknownFlag(raw: string, command: CommandSpec, known: readonly OptionSpec[]): CliError {
  const line = `svc ${command.words.join(' ')}`;
  const name = raw.replace(/^-+/, '');
  const argument = command.args.find((one) => one.name.replaceAll('_', '-') === name);
  const hint = `See: ${line} --help`;
  if (argument)
    return usageError(`${raw} is no flag.`, `Write it as: ${line} ${usageOf(argument)}`);
  if (WRITE_OPTIONS.some(({ flag }) => flag === name)) {
    return usageError(`${raw} is for commands that write.`, hint);
  }
  const negated = known.find((option) => mayLeaveOut(option) && `no-${option.flag}` === name);
  if (negated) return usageError(`${raw} is no flag.`, `Write it as: --${negated.flag} false`);
  const meant = nearest(
    name,
    known.map(({ flag }) => flag),
  );
  return usageError(
    `Unknown flag ${raw}.${meant === null ? '' : ` Did you mean --${meant}?`}`,
    hint,
  );
}

function placeArguments(
  command: CommandSpec,
  given: readonly string[],
  { help }: OptionValues,
): ParsedLine['args'] {
  if (help) return {};
  const placed: Record<string, string | readonly string[] | undefined> = Object.create(null);
  let index = 0;
  for (const argument of command.args) {
    if (argument.variadic) {
      placed[argument.name] = given.slice(index);
      index = given.length;
    } else {
      placed[argument.name] = given[index];
      index += 1;
    }
    const value = placed[argument.name];
    if (argument.required && (value === undefined || value.length === 0)) {
      throw missing(`<${argument.name}> is missing.`, command);
    }
  }
  if (given.length > index) {
    const hint = `Write it as: ${usageLine(command)}`;
    throw usageError(`Unexpected argument "${given[index] ?? ''}".`, hint);
  }
  return placed;
}

/** The refusal for something that must be given, with an example that has it. */
export function missing(message: string, command: Pick<CommandSpec, 'examples'>): CliError {
  const example = command.examples[0];
  return usageError(message, example === undefined ? null : `For example: svc ${example}`);
}

/** `svc inbox claim <event_id> [flags]` */
export function usageLine(command: CommandSpec): string {
  const flags = command.options.length > 0 ? ['[flags]'] : [];
  return ['svc', ...command.words, ...command.args.map(usageOf), ...flags].join(' ');
}

/** `<event_id>`, `[name]` or `[name...]` */
export function usageOf({ name, required, variadic }: ArgumentSpec): string {
  const inner = variadic ? `${name}...` : name;
  return required ? `<${inner}>` : `[${inner}]`;
}
