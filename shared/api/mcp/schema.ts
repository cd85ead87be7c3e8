import * as z from 'zod';
import { eventSchema } from '../../kernel/envelope.ts';
import { isFormless } from '../../lib/text.ts';
import { channelView } from '../../operations/channel/view.ts';
import { ledgerEntry } from '../../operations/ledger/query.ts';
import { policyRule } from '../../operations/policy/view.ts';
import { requestAnswer, requestRecord } from '../../operations/request/record.ts';

/** A JSON Schema (2020-12) of a tool. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

type Schema = Record<string, unknown>;

/** A record and what an agent needs of it to go on; its other fields come with the answer, undeclared. */
interface RecordSummary {
  /** Fields that only this record has. */
  readonly marks: readonly string[];
  readonly fields: readonly string[];
  readonly shown: readonly string[];
  /** Outsiders may write parts of it, which an answer has under `untrusted`. */
  readonly outside?: true;
}

const SHORTENED: readonly RecordSummary[] = [
  {
    marks: ['trust', 'payload'],
    fields: [...Object.keys(eventSchema.shape), 'result'],
    shown: ['id', 'type', 'trust', 'status'],
    outside: true,
  },
  { marks: ['ref', 'sha256'], fields: [], shown: [], outside: true },
  { marks: ['message_id', 'to'], fields: ['error', 'copy'], shown: [], outside: true },
  {
    marks: ['requested_by', 'notified'],
    fields: Object.keys(requestRecord.shape),
    shown: ['request_id', 'status', 'summary'],
  },
  {
    marks: ['poll_after_seconds'],
    fields: Object.keys(requestAnswer.shape),
    shown: ['request_id', 'status'],
  },
  {
    marks: ['verified_at', 'activated_at'],
    fields: Object.keys(channelView.shape),
    shown: ['id', 'kind', 'label', 'status', 'owner'],
  },
  {
    marks: ['parks', 'wakes_at'],
    fields: ['attempts', 'parks', 'waiting_for', 'wakes_at'],
    shown: [],
  },
  { marks: ['urls', 'server'], fields: ['agent', 'urls', 'server'], shown: [] },
  {
    marks: ['verification', 'events_24h'],
    fields: ['signature_header', 'created_at', 'previous_secret_valid_until'],
    shown: [],
  },
  {
    marks: ['effect', 'amount_gt'],
    fields: Object.keys(policyRule.shape),
    shown: ['id', 'effect'],
  },
  {
    marks: ['prev_hash', 'hash'],
    fields: Object.keys(ledgerEntry.shape),
    shown: ['seq', 'at', 'op', 'agent', 'subject', 'outcome'],
  },
];

/** The schema of a tool's arguments: fields with defaults stay optional, and unknown fields are refused. */
export function inputSchema(schema: z.ZodObject): ObjectSchema {
  return asObject(lean(jsonSchemaOf(schema, 'input')));
}

/**
 * The schema of a tool's answer: names and types. It allows unknown fields, so that a client's stored list stays valid
 * when we add fields. It omits `required` and descriptions, which would cost a tenth of the whole list.
 */
export function outputSchema(schema: z.ZodType, hasOutside = false): ObjectSchema {
  return asObject(lean(opened(jsonSchemaOf(schema, 'output'), { isTop: true, hasOutside })));
}

/** A custom schema has only the keywords in its metadata. */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any' });
}

/** Clients require `type: object` at the top, even for a choice between objects. */
function asObject(schema: Schema): ObjectSchema {
  if (schema['type'] === 'object') return { ...schema, type: 'object' };
  const choices = schema['anyOf'];
  const objects = Array.isArray(choices) && choices.every((choice) => isTyped(choice, 'object'));
  if (!objects) throw new TypeError('A tool takes and answers objects.');
  return { type: 'object', ...schema };
}

/** An agent doesn't count so far, and a refusal tells the limit. */
const LONG_TEXT_CHARS = 2000;

/** Removes keywords that tell an agent nothing, because every agent pays tokens for the list. */
function lean(schema: Schema): Schema {
  const { $schema: _dialect, $defs: _definitions, propertyNames: _names, ...rest } = schema;
  // Only "any JSON" refers to itself.
  if ('$ref' in rest) delete rest['$ref'];
  if (rest['minimum'] === Number.MIN_SAFE_INTEGER) delete rest['minimum'];
  if (rest['maximum'] === Number.MAX_SAFE_INTEGER) delete rest['maximum'];
  if (rest['format'] === 'date-time') delete rest['pattern'];
  if (rest['minLength'] === 1) delete rest['minLength'];
  if (Number(rest['maxLength']) >= LONG_TEXT_CHARS) delete rest['maxLength'];
  if (rest['default'] === false) delete rest['default'];
  delete rest['uniqueItems'];
  if (typeof rest['pattern'] === 'string') {
    if (isFormless(rest['pattern'])) delete rest['pattern'];
    else rest['pattern'] = rest['pattern'].replace('[0-9a-z]', '\\w');
  }
  return portable(mapChildren(rest, lean));
}

const ANY_JSON = ['object', 'array', 'string', 'number', 'boolean', 'null'];

/** Some clients refuse a schema that allows any value, or one with a list of types. */
function portable(schema: Schema): Schema {
  const { description, type, ...rest } = schema;
  const isAny = type === undefined && Object.keys(rest).length === 0;
  if (!isAny && !Array.isArray(type)) return schema;
  const types: readonly unknown[] = isAny ? ANY_JSON : (type as unknown[]);
  const anyOf = types.map((one) => (one === 'null' ? { type: one } : { type: one, ...rest }));
  return { ...(description !== undefined && { description }), anyOf };
}

/** The keywords that describe an answer's structure; a record keeps the schema of its values. */
const STRUCTURE = new Set([
  'type',
  'enum',
  'const',
  'properties',
  'items',
  'anyOf',
  'additionalProperties',
]);

interface Level {
  /** The answer itself; objects within are declared without their members, unless they are records. */
  readonly isTop: boolean;
  /** Outsiders may have written parts of the answer. */
  readonly hasOutside: boolean;
}

function opened(schema: Schema, { isTop, hasOutside }: Level): Schema {
  const isObject = schema['type'] === 'object';
  const isPlain = isSchema(schema['properties']) && !recordOf(schema['properties']);
  if (!isTop && isPlain) return { type: 'object' };
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([keyword, value]) => STRUCTURE.has(keyword) && value !== false),
  );
  if (isLong(rest['enum'])) delete rest['enum'];
  else if ('enum' in rest || 'const' in rest) delete rest['type'];
  const { items, properties } = rest;
  if (isSchema(items) && 'enum' in items) rest['items'] = { type: 'string' };
  if (isSchema(properties)) {
    const told = Object.entries(properties).filter(
      ([name, one]) => !REMARKS.has(name) && !isTextOrNull(one),
    );
    rest['properties'] = shortened(Object.fromEntries(told), hasOutside);
  }
  return mapChildren(rest, (child) => opened(child, { isTop: isTop && !isObject, hasOutside }));
}

/** Sentences for a reader, which come with the answer, undeclared. */
const REMARKS: ReadonlySet<string> = new Set(['hint', 'warnings']);

/** The descriptions of tools list longer choices where they matter. */
const CHOICES_SHOWN = 6;

function isLong(choices: unknown): boolean {
  return Array.isArray(choices) && choices.length > CHOICES_SHOWN;
}

/** To declare such a field tells a client almost nothing. */
function isTextOrNull(schema: unknown): boolean {
  if (!isSchema(schema) || 'enum' in schema) return false;
  const { type } = schema;
  return Array.isArray(type) && type.every((one) => one === 'string' || one === 'null');
}

function recordOf(properties: unknown): RecordSummary | undefined {
  if (!isSchema(properties)) return undefined;
  return SHORTENED.find(({ marks }) => marks.every((name) => name in properties));
}

function shortened(properties: Schema, hasOutside: boolean): Schema {
  const record = recordOf(properties);
  if (!record) return properties;
  const hidden = record.fields.filter((name) => !record.shown.includes(name));
  const shown = Object.entries(properties).filter(([name]) => !hidden.includes(name));
  return {
    ...Object.fromEntries(shown),
    ...(hasOutside && record.outside && { untrusted: { type: 'object' } }),
  };
}

function mapChildren(schema: Schema, change: (child: Schema) => Schema): Schema {
  const mapped: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    mapped[keyword] = mapChild(keyword, value, change);
  }
  return mapped;
}

function mapChild(keyword: string, value: unknown, change: (child: Schema) => Schema): unknown {
  if (keyword === 'properties' && isSchema(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, isSchema(child) ? change(child) : child]),
    );
  }
  if (keyword === 'anyOf' && Array.isArray(value)) {
    return value.map((child: unknown) => (isSchema(child) ? change(child) : child));
  }
  const single = keyword === 'items' || keyword === 'additionalProperties';
  return single && isSchema(value) ? change(value) : value;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTyped(value: unknown, type: string): boolean {
  return isSchema(value) && value['type'] === type;
}
