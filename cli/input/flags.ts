import { Option } from 'commander';
import type { CommandSpec, OptionSpec } from '../command.ts';
import { usageError } from '../errors.ts';
import { didYouMean } from '../../shared/lib/suggest.ts';

/** Flags of every command. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flag: 'json', summary: 'Print answers and errors as JSON.' },
  {
    flag: 'jq',
    value: 'EXPR',
    summary: 'Print what this jq expression makes of the JSON; text without quotes.',
  },
  {
    flag: 'profile',
    value: 'NAME',
    summary: 'Use this stored profile.',
    stored: 'profiles',
  },
  { flag: 'quiet', summary: 'Hide notes and the spinner.' },
  { flag: 'no-color', summary: 'Turn off colors; so does NO_COLOR.' },
  { flag: 'help', short: 'h', summary: 'Show help with examples.' },
];

/** The flag of commands that list things or show a state. `run.ts` acts on it, so the commands needn't. */
export const WATCH_OPTION: OptionSpec = {
  flag: 'watch',
  value: '[INTERVAL]',
  standard: '5s',
  summary: 'Show it again every 5s, or at this interval, until Ctrl-C.',
};

/** Flags of every command that writes. */
export const WRITE_OPTIONS: readonly OptionSpec[] = [
  {
    flag: 'idempotency-key',
    value: 'KEY',
    summary:
      'Repeating a command with the same key runs it once, for 24 hours (default: a new key).',
  },
  {
    flag: 'retry-for',
    value: 'TIME',
    summary: "Keep retrying for this long if the service can't take it: 60s, 5m, 1h.",
  },
];

/** A command's flags, without the global ones. */
export function optionsOf({
  options,
  writes,
}: Pick<CommandSpec, 'options' | 'writes'>): readonly OptionSpec[] {
  return writes ? [...options, ...WRITE_OPTIONS] : options;
}

type Value = string | true | readonly string[];

/** A commander flag that stores its value under its own name. */
export class Flag extends Option {
  readonly spec: OptionSpec;

  /** `name` may be the flag's earlier one; its value is stored under the present one. */
  constructor(spec: OptionSpec, name = spec.flag) {
    const { short, value, summary } = spec;
    const named = short === undefined ? `--${name}` : `-${short}, --${name}`;
    super(value === undefined ? named : `${named} <value>`, summary);
    this.spec = spec;
    // `--no-color` switches something on, like any other flag.
    this.negate = false;
    this.argParser((text: string | undefined, before: Value | undefined) =>
      valueOf(spec, text, before),
    );
  }

  override attributeName(): string {
    return this.spec.flag;
  }

  /** Returns the flag's value, and whether it is the next word. */
  valueIn(next: string | undefined): { readonly value: string; readonly taken: boolean } {
    const { flag, value, choices, standard } = this.spec;
    if (mayLeaveOut(this.spec)) {
      const fits = standard === undefined ? choices?.includes(next ?? '') : isAmount(next);
      if (next !== undefined && fits) return { value: next, taken: true };
      return { value: standard ?? choices?.[0] ?? '', taken: false };
    }
    if (next !== undefined && !/^--?[a-z]/i.test(next)) return { value: next, taken: true };
    throw usageError(`--${flag} needs a value.`, `Write it as: --${flag} ${value}`);
  }
}

/** Whether the word looks like a number or a span, even a wrong one. */
function isAmount(word = ''): boolean {
  return /^\d[\d.]*[a-z]*$/.test(word);
}

/** `[true|false]`: the flag may stand alone. */
function mayLeaveOut({ value }: OptionSpec): boolean {
  return value?.startsWith('[') ?? false;
}

/**
 * Joins each value to its flag, up to a command's name. Commander alone would take `--limit` as the value in `--type
 * --limit 5`, and `evt_1` as the optional value in `--retry evt_1`.
 */
export function joined(
  words: readonly string[],
  flags: readonly Option[],
  isName: (word: string) => boolean,
): string[] {
  const line: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--' || isName(word)) return [...line, ...words.slice(at)];
    const flag = flags.find(({ long, short }) => long === word || short === word);
    if (flag instanceof Flag && flag.required) {
      const { value, taken } = flag.valueIn(words[at + 1]);
      if (taken) at += 1;
      line.push(`--${flag.name()}=${value}`);
    } else {
      line.push(word);
    }
  }
  return line;
}

/** The flag's value from this text (none for a switch), added to earlier values. */
function valueOf(spec: OptionSpec, text: string | undefined, before: Value | undefined): Value {
  if (text === undefined) return true;
  checkChoices(spec, text);
  if (spec.repeatable) return Array.isArray(before) ? [...(before as string[]), text] : [text];
  if (before !== undefined) throw usageError(`--${spec.flag} is given twice.`);
  return text;
}

function checkChoices({ flag, choices, repeatable }: OptionSpec, text: string): void {
  if (!choices) return;
  for (const word of repeatable ? text.split(',').map((part) => part.trim()) : [text]) {
    if (choices.includes(word)) continue;
    throw usageError(
      `--${flag} can't be "${word}".${didYouMean(word, choices)}`,
      `It is one of: ${choices.join(', ')}`,
    );
  }
}
