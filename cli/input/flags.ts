import { Option } from 'commander';
import type { CommandSpec, OptionSpec } from '../command.ts';
import { usageError } from '../errors.ts';
import { nearest } from '../../shared/lib/suggest.ts';

/** Flags that every command takes. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flag: 'json', summary: 'Print answers and errors as JSON.' },
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

/** The flags that a command takes beside those of every command. */
export function optionsOf({
  options,
  writes,
}: Pick<CommandSpec, 'options' | 'writes'>): readonly OptionSpec[] {
  return writes ? [...options, ...WRITE_OPTIONS] : options;
}

type Value = string | true | readonly string[];

/** A flag as commander knows it, with its value under its own name. */
export class Flag extends Option {
  readonly spec: OptionSpec;

  constructor(spec: OptionSpec) {
    const { flag, short, value, summary } = spec;
    const named = short === undefined ? `--${flag}` : `-${short}, --${flag}`;
    super(value === undefined ? named : `${named} <value>`, summary);
    this.spec = spec;
    // `--no-color` switches something on, as any other flag.
    this.negate = false;
    this.argParser((text: string | undefined, before: Value | undefined) =>
      valueOf(spec, text, before),
    );
  }

  override attributeName(): string {
    return this.name();
  }

  /** The value that the flag takes from the next word, which may be none of its own. */
  valueIn(next: string | undefined): { readonly value: string; readonly taken: boolean } {
    const { flag, value, choices } = this.spec;
    if (mayLeaveOut(this.spec)) {
      const choice = choices?.find((one) => one === next);
      return { value: choice ?? choices?.[0] ?? '', taken: choice !== undefined };
    }
    if (next !== undefined && !/^--?[a-z]/i.test(next)) return { value: next, taken: true };
    throw usageError(`--${flag} needs a value.`, `Write it as: --${flag} ${value}`);
  }
}

/** `[true|false]`: the flag may stand alone. */
export function mayLeaveOut({ value }: OptionSpec): boolean {
  return value?.startsWith('[') ?? false;
}

/**
 * The words with each value joined to its flag, up to the name of a command. Commander alone would take the flag in
 * `--type --limit 5` for the value that was forgotten, and the argument in `--retry evt_1` for the value that may be left out.
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

/** The value of a flag after this text, which is missing for a switch, and after what the flag was given before. */
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
    const meant = nearest(word, choices);
    throw usageError(
      `--${flag} can't be "${word}".${meant === null ? '' : ` Did you mean "${meant}"?`}`,
      `It is one of: ${choices.join(', ')}`,
    );
  }
}
