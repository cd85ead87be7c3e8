import { jsonSchema } from '../../shared/api/fields.ts';
import type { Endpoint } from '../../clients/typescript/call/endpoint.ts';
import type { Operation } from '../../shared/kernel/operation.ts';
import { isFormless } from '../../shared/lib/text.ts';
import type { OperationName } from '../call/answers.ts';
import type { FieldShape, OperationShape } from '../call/operation-shape.ts';
import { flagOf } from '../call/operation-spec.ts';
import { typedText } from './typed-text.ts';

interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly default?: unknown;
  readonly description?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** Times, ids and cursors are copied from elsewhere, so their length limits tell the user nothing. */
const COPIED = /^(?:cursor|since|before|until)$|_(?:at|id)$/;

/** Times that filter what happened. */
const PAST = /^(?:since|before|until)$/;

/** Longer text may be worth a file; shorter text is an id, a name or a time. */
const LONG_TEXT_CHARS = 1024;

/** What the command line needs to know about one operation. */
export function shapeOf(operation: Operation): OperationShape {
  const { name, summary, description, effect, cli } = operation;
  const schema = jsonSchema(operation.input, 'input');
  const properties = (schema['properties'] ?? {}) as Record<string, FieldSchema>;
  const required = (schema['required'] ?? []) as readonly string[];
  const parts = cli.usage.split(' ');
  const positional = parts
    .filter((part) => /^[<[]/.test(part))
    .map((part) => ({ name: part.slice(1, -1), required: part.startsWith('<') }));
  const typed = (field: string): string | undefined => {
    if (!Object.hasOwn(properties, field)) return undefined;
    const isFlag = positional.every((one) => one.name !== field);
    return isFlag ? flagOf({ name: field, ...flagNamed(field) }) : `<${field}>`;
  };
  const flagNamed = (field: string): Pick<FieldShape, 'flag' | 'formerFlag'> => {
    const flag = cli.flags?.[field];
    if (flag !== undefined) return { flag };
    return isWait(field) ? { flag: 'wait', formerFlag: field.replaceAll('_', '-') } : {};
  };
  return {
    // The types are written from the same operations.
    name: name as OperationName,
    words: parts.filter((part) => !/^[<[]/.test(part)),
    positional,
    summary: typedText(summary, typed),
    description: typedText(description, typed),
    ...endpointOf(operation),
    effect,
    fields: Object.entries(properties).map(([field, it]) => {
      // A field's own name in its description means an answer's field to copy from, so it stays.
      const others = (other: string) => (other === field ? undefined : typed(other));
      const told = typedText(it.description ?? '', others);
      return { ...fieldOf(field, it, required.includes(field), told), ...flagNamed(field) };
    }),
    examples: cli.examples,
    defaults: { ...cli.defaults },
    ...(cli.columns && { columns: cli.columns }),
    ...(cli.emptyWhenNull !== undefined && { emptyWhenNull: cli.emptyWhenNull }),
  };
}

/** Where an operation's fields go. Only what differs from the usual is written. */
export function endpointOf({ rest, effect, input }: Operation): Endpoint {
  const { method, path, params, body } = rest;
  const seconds = ['timeout_seconds', 'wait_seconds'].find((field) =>
    Object.hasOwn(input.shape, field),
  );
  return {
    method,
    path,
    ...(params && { params }),
    ...(body && { body }),
    ...(effect === 'write' && { isWrite: true }),
    ...(seconds !== undefined && { seconds }),
  };
}

function fieldOf(
  name: string,
  schema: FieldSchema,
  required: boolean,
  summary: string,
): FieldShape {
  const type = typeOf(schema);
  const choices = schema.enum ?? schema.items?.enum;
  const time = type === 'string' ? timeOf(name) : {};
  return {
    name,
    type,
    // The flag also takes a span, and its help says so.
    summary: 'time' in time ? summary.replace(/,? ISO 8601/, '') : summary,
    required,
    ...time,
    ...(isPlain(schema.default) && { default: schema.default }),
    ...(choices && { choices }),
    ...(!COPIED.test(name) && limitsOf(schema)),
    ...(isLongText(name, schema) && { text: true as const }),
    ...(isWait(name) && { wait: true as const }),
    ...(SPANS.has(name) && { span: true as const }),
  };
}

/** Fields that take a number and one unit, or a list of what to wait for that may have such. */
const SPANS: ReadonlySet<string> = new Set(['expires_in', 'remind', 'until']);

/** The command line has one name for how long a call may wait. */
function isWait(name: string): boolean {
  return name === 'timeout_seconds' || name === 'wait_seconds';
}

function timeOf(name: string): Pick<FieldShape, 'time'> {
  if (PAST.test(name)) return { time: 'past' };
  return name.endsWith('_at') ? { time: 'future' } : {};
}

function limitsOf({ minimum, maximum, minLength, maxLength }: FieldSchema) {
  return {
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
  };
}

function typeOf({ type }: FieldSchema): FieldShape['type'] {
  switch (type) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
    case 'array':
      return type;
    default:
      return 'json';
  }
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** These have no length limit, but nobody keeps one in a file. */
const TYPED = new Set(['cursor', 'platform']);

function isLongText(
  name: string,
  { type, enum: choices, pattern, maxLength }: FieldSchema,
): boolean {
  const hasForm = pattern !== undefined && !isFormless(pattern);
  if (type !== 'string' || choices || hasForm || TYPED.has(name)) return false;
  return (maxLength ?? Number.POSITIVE_INFINITY) >= LONG_TEXT_CHARS;
}
