import * as z from 'zod';
import { eventSchema } from '../../kernel/envelope.ts';

/** A JSON Schema (2020-12) of a tool. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

type Schema = Record<string, unknown>;

/** The fields of an event that agents need; answers contain the others too, without declaring them. */
const EVENT_FIELDS_SHOWN = new Set(['id', 'type', 'payload', 'trust', 'status']);
const EVENT_FIELDS_HIDDEN = new Set(
  Object.keys(eventSchema.shape).filter((name) => !EVENT_FIELDS_SHOWN.has(name)),
);

/** The schema of a tool's arguments: fields with defaults stay optional, and unknown fields are refused. */
export function inputSchema(schema: z.ZodObject): ObjectSchema {
  return asObject(lean(jsonSchemaOf(schema, 'input')));
}

/**
 * The schema of a tool's answer: names and types. It allows unknown fields, so that a client's stored list stays valid
 * when we add fields. It omits `required` and descriptions, which would cost a tenth of the whole list.
 */
export function outputSchema(schema: z.ZodType): ObjectSchema {
  return asObject(lean(opened(jsonSchemaOf(schema, 'output'))));
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

/** Removes keywords that tell an agent nothing, because every agent pays tokens for the list. */
function lean(schema: Schema): Schema {
  const { $schema: _dialect, $defs: _definitions, propertyNames: _names, ...rest } = schema;
  // Only "any JSON" refers to itself.
  if ('$ref' in rest) delete rest['$ref'];
  if (rest['minimum'] === Number.MIN_SAFE_INTEGER) delete rest['minimum'];
  if (rest['maximum'] === Number.MAX_SAFE_INTEGER) delete rest['maximum'];
  if (rest['format'] === 'date-time') delete rest['pattern'];
  if (rest['minLength'] === 1) delete rest['minLength'];
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

function opened(schema: Schema): Schema {
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([keyword, value]) => STRUCTURE.has(keyword) && value !== false),
  );
  if ('enum' in rest || 'const' in rest) delete rest['type'];
  const { items, properties } = rest;
  if (isSchema(items) && 'enum' in items) rest['items'] = { type: 'string' };
  if (isSchema(properties) && 'trust' in properties && 'payload' in properties) {
    const shown = Object.entries(properties).filter(([name]) => !EVENT_FIELDS_HIDDEN.has(name));
    rest['properties'] = Object.fromEntries(shown);
  }
  return mapChildren(rest, opened);
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
