import { ExactNumber } from '../../lib/json/exact-json.ts';
import { isObject } from '../../lib/guards.ts';
import { parseBoundedJson } from '../../rules/payload/payload.ts';
import { withoutNulls, type Message } from './body.ts';
import { invalidParams } from './refusal.ts';
import type { ObjectSchema } from './schema.ts';
import type { ToolTable } from './tables.ts';

type Fields = Record<string, unknown>;
type Schema = Readonly<Record<string, unknown>>;

/** A call with its arguments as its tool wants them, and as the SDK takes them. Other messages stay as they are. */
export function withArguments(message: Message, tools: ToolTable): Message {
  const { method, params } = message;
  if (!params || (method !== 'tools/call' && method !== 'prompts/get')) return message;
  const given = argumentsOf(params['arguments']);
  if (method === 'prompts/get') {
    return { ...message, params: { ...params, arguments: withoutNulls(given) } };
  }
  const tool = tools.find(String(params['name']));
  return { ...message, params: { ...params, arguments: tool?.inputOf(given) ?? given } };
}

/**
 * The `arguments` of a call as an object. Clients also send null or an empty text for none, and the object as a JSON text.
 * Throws a `ProtocolError` for anything else.
 */
export function argumentsOf(given: unknown): Fields {
  const read = typeof given === 'string' ? jsonOf(given.trim() || 'null') : given;
  if (given === undefined || read === null) return {};
  if (isObject(read)) return read;
  throw invalidParams('Invalid params: arguments must be an object');
}

/**
 * The arguments as a tool's schema wants them, because some clients send `"5"` for 5, `"[\"a\"]"` for a list, and null
 * for what they leave out. Text stays text, and null stays null, where the schema takes them. What can't be read
 * stays as it is, for the operation to refuse by name.
 */
export function readArguments(schema: ObjectSchema, given: Fields): Fields {
  return fieldsAs(schema, given, true);
}

/** `dropsNull`: leaves out optional fields that are null. */
function fieldsAs(schema: Schema, given: Fields, dropsNull: boolean): Fields {
  const { properties, required } = schema;
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const read = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    const field = isObject(properties) && Object.hasOwn(properties, name) && properties[name];
    if (!isObject(field)) return [[name, value]];
    const one = valueAs(field, value, dropsNull);
    const isAbsent = one === null && kindAs(field, null) === undefined && !isRequired(name);
    return isAbsent && dropsNull ? [] : [[name, one]];
  });
  return Object.fromEntries(read);
}

function valueAs(schema: Schema, given: unknown, dropsNull: boolean): unknown {
  const value = typeof given === 'string' ? textAs(schema, given) : given;
  const kind = kindAs(schema, value);
  if (isObject(value) && kind) return fieldsAs(kind, value, dropsNull);
  const items = kind?.['items'];
  if (!Array.isArray(value) || !isObject(items)) return value;
  // A null in a list's item is the caller's: a rule of a policy without its condition would match more.
  return value.map((item: unknown) => valueAs(items, item, false));
}

/** What a text stands for where the schema takes no text: JSON of a kind that it takes, or null. */
function textAs(schema: Schema, text: string): unknown {
  if (kindAs(schema, text)) return text;
  const value = jsonOf(/^(?:true|false)$/i.test(text) ? text.toLowerCase() : text);
  return value === null || kindAs(schema, value) ? value : text;
}

/** The part of a schema that is for values of this kind. */
function kindAs(schema: Schema, value: unknown): Schema | undefined {
  const { anyOf } = schema;
  const kinds: unknown[] = Array.isArray(anyOf) ? anyOf : [schema];
  const types = typesOf(value);
  return kinds.filter(isObject).find(({ type }) => types.includes(String(type)));
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number' || value instanceof ExactNumber) return ['number', 'integer'];
  return [typeof value];
}

/** Undefined if the text isn't JSON. */
function jsonOf(text: string): unknown {
  return text.isWellFormed() ? parseBoundedJson(Buffer.from(text)) : undefined;
}
