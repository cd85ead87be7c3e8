import type { Additions, ArgumentSpec, CommandSpec, OptionSpec } from '../command.ts';
import type { FieldShape, OperationShape } from './operation-shape.ts';
import { WATCH_OPTION } from '../input/flags.ts';
import { ALL_OPTION } from './pages.ts';
import { STORED_BY_FIELD } from '../stored-names.ts';
import { countText } from '../view/sizes.ts';

/** What exit code 3 means for an operation that may find nothing. */
const NOTHING = {
  wait: ['3', 'no event came in time; nothing is lost, so run it again'],
  read: ['3', 'not found'],
  write: ['3', 'not found'],
} as const;

const LISTS: ReadonlySet<string> = new Set(['list', 'query', 'attempts']);

/** An operation's command: its file's declaration, completed from the operation. */
export function operationSpec(
  shape: OperationShape,
  declared: Additions,
  load: CommandSpec['load'],
): CommandSpec {
  const { moreOptions = [], moreExamples = [], stored = {}, ...own } = declared;
  return {
    words: shape.words,
    summary: shape.summary,
    description: shape.description,
    writes: shape.effect === 'write',
    ...(shape.emptyWhenNull !== undefined && { exits: [NOTHING[shape.effect]] }),
    ...own,
    // Built on demand, because only one command runs.
    get args() {
      return own.args ?? argumentsOf(shape, stored);
    },
    get options() {
      const list = isList(shape) ? [ALL_OPTION, WATCH_OPTION] : [];
      return own.options ?? [...optionsOf(shape, stored), ...list, ...moreOptions];
    },
    examples: own.examples ?? [...shape.examples, ...moreExamples],
    load,
  };
}

/** Whether the operation lists things, so that its command takes --all and --watch. */
export function isList({ effect, words }: OperationShape): boolean {
  return effect === 'read' && LISTS.has(words.at(-1) ?? '');
}

type StoredFields = NonNullable<Additions['stored']>;

function argumentsOf(shape: OperationShape, stored: StoredFields): ArgumentSpec[] {
  return shape.positional.map(({ name, required }) => {
    const field = shape.fields.find((one) => one.name === name);
    const summary = field ? remarked(field.summary, [...limitsOf(field), ...formsOf(field)]) : '';
    const choices = field?.choices;
    return {
      name,
      required,
      summary,
      ...(field?.type === 'array' && { rest: true }),
      ...(choices && { choices }),
      ...storedOf(name, stored),
    };
  });
}

function optionsOf(shape: OperationShape, stored: StoredFields): OptionSpec[] {
  const positional = new Set(shape.positional.map(({ name }) => name));
  return shape.fields
    .filter(({ name }) => !positional.has(name))
    .map((field) => ({ ...optionOf(shape, field), ...storedOf(field.name, stored) }));
}

function storedOf(field: string, stored: StoredFields): Pick<OptionSpec, 'stored'> {
  const names = stored[field] ?? STORED_BY_FIELD[field];
  return names === undefined ? {} : { stored: names };
}

function optionOf(shape: OperationShape, field: FieldShape): OptionSpec {
  const filledIn = shape.defaults[field.name];
  const choices = field.type === 'boolean' ? ['true', 'false'] : field.choices;
  const limits = [...boundsOf(shape, field), ...defaultOf(filledIn ?? field.default, field)];
  const remarks = [
    ...(field.required && filledIn === undefined ? ['required'] : []),
    ...(limits.length > 0 ? [limits.join(', ')] : []),
    ...formsOf(field),
  ];
  return {
    flag: flagOf(field).slice(2),
    value: valueName(field),
    ...(field.formerFlag !== undefined && { former: field.formerFlag }),
    summary: remarked(field.summary, remarks),
    ...(choices && { choices }),
    ...(field.type === 'array' && { repeatable: true }),
  };
}

function boundsOf(shape: OperationShape, field: FieldShape): string[] {
  if (field.wait) return ['such as 60s or 5m'];
  // More than a page's rows are fetched page by page.
  const { maximum: _, ...open } = field;
  return limitsOf(isList(shape) && field.name === 'limit' ? open : field);
}

function defaultOf(standard: FieldShape['default'], { wait }: FieldShape): string[] {
  return standard === undefined ? [] : [`default ${standard}${wait ? 's' : ''}`];
}

/** Where else a value may come from. */
function formsOf(field: FieldShape): string[] {
  if (field.time === 'past') return ['ISO 8601, or how long ago: 2h, 7d'];
  if (field.time === 'future') return ['ISO 8601, or from now: 12h, 30d'];
  if (field.type === 'json') return ['JSON, @file or -'];
  return field.text && !isAddress(field) ? ['text, @file or -'] : [];
}

/** An address may be long, but nobody keeps one in a file. */
function isAddress({ name }: FieldShape): boolean {
  return name.endsWith('_url');
}

function remarked(summary: string, remarks: readonly string[]): string {
  const remark = remarks.length > 0 ? ` (${remarks.join('; ')})` : '';
  return summary.replace(/\.$/, '') + remark;
}

/** `30 to 3600`, `at least 1`, `up to 100 characters`; leaves out obvious limits and those the summary already says. */
function limitsOf({ summary, minimum, maximum, minLength = 0, maxLength }: FieldShape): string[] {
  const range = maximum === undefined && minimum === 0 ? [] : rangeText(minimum, maximum);
  if (/\b(?:up to|at most) \d/i.test(summary)) return range;
  const least = minLength > 1 ? countText(minLength) : undefined;
  const length = rangeText(least, maxLength === undefined ? undefined : countText(maxLength));
  return [...range, ...length.map((text) => `${text} characters`)];
}

function rangeText(least: number | string | undefined, most: number | string | undefined) {
  if (most === undefined) return least === undefined ? [] : [`at least ${least}`];
  return [least === undefined ? `up to ${most}` : `${least} to ${most}`];
}

function valueName(field: FieldShape): string {
  const { type, text } = field;
  if (field.time) return 'TIME';
  if (field.wait) return 'DURATION';
  switch (type) {
    case 'boolean':
      return '[true|false]';
    case 'integer':
    case 'number':
      return 'N';
    case 'json':
      return 'JSON';
    case 'array':
      return 'A,B,…';
    case 'string':
      return isAddress(field) ? 'URL' : text ? 'TEXT' : 'VALUE';
  }
}

/** `lease_seconds` is typed as `--lease-seconds`. */
export function flagOf({ name, flag }: Pick<FieldShape, 'name' | 'flag'>): string {
  return `--${flag ?? name.replaceAll('_', '-')}`;
}
