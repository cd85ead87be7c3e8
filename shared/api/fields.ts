import * as z from 'zod';
import type { Operation } from '../kernel/operation.ts';

/** How to write an input field as text, in a query string or on a command line. */
export type FieldKind = 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'json';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly [key: string]: unknown;
}

/** The JSON Schema of an input (`io: input`) or answer, without parts that cost a reader more than they tell. */
export function jsonSchema(type: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const schema = z.toJSONSchema(type, { io, unrepresentable: 'any', override: lean });
  const { $schema: _dialect, $defs: _definitions, ...rest } = schema as Record<string, unknown>;
  return rest;
}

interface Overridden {
  readonly jsonSchema: Record<string, unknown>;
}

/**
 * Removes keywords that say nothing. Only "any JSON" has a `$ref` to itself, whose path is wrong once the schema is part
 * of another document; without keywords it means the same.
 */
function lean(overridden: Overridden): void {
  delete overridden.jsonSchema['$ref'];
  withoutSafeRange(overridden);
}

/** Zod states the range of safe integers, which any caller's JSON number fits anyway. */
export function withoutSafeRange({ jsonSchema: schema }: Overridden): void {
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
}

/** The kind of every field in an operation's input, by name. */
export function fieldKinds(operation: Operation): Map<string, FieldKind> {
  const schema = jsonSchema(operation.input, 'input');
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  return new Map(Object.entries(properties).map(([name, field]) => [name, kindOf(field)]));
}

/** Whether a field without a path parameter belongs in the query; other fields are the body or are in it. */
export function isInQuery({ rest }: Operation, field: string): boolean {
  if (rest.method === 'GET' || rest.method === 'DELETE') return true;
  const { body } = rest;
  if (!body || field === body.field || field === body.typeField) return false;
  return body.query === undefined || body.query.includes(field);
}

function kindOf(field: JsonSchema): FieldKind {
  switch (field.type) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return field.type;
    case 'array':
      return 'list';
    default:
      return 'json';
  }
}

/**
 * Parses the value of a text. A text that doesn't fit its kind stays text, so that validation names the field. `texts`
 * has every value given under one name.
 */
export function fromTexts(kind: FieldKind, texts: readonly string[]): unknown {
  const text = texts.at(-1) ?? '';
  switch (kind) {
    case 'list':
      return texts;
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'json':
      return parsedOr(text);
    case 'string':
      return text;
  }
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
