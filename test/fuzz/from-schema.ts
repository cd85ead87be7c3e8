import * as fc from 'fast-check';

/** A value's schema in the published document, with the JSON Schema keywords it uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Values that exist in the project, by field name. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

const TEXT_MAX_CHARS = 300;
const ITEMS_MAX = 4;
const ANY_JSON = fc.jsonValue({ maxDepth: 3 });

/** Values that a schema takes. Where something is known of a field, most are of that. */
export function fromSchema(schema: Schema, known: Known, name = ''): fc.Arbitrary<unknown> {
  const made = ofSchema(schema, known, name);
  const { pattern } = schema;
  const values = (known[name] ?? []).filter(
    (value) => pattern === undefined || new RegExp(pattern).test(String(value)),
  );
  if (values.length === 0) return made;
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, made);
}

function ofSchema(schema: Schema, known: Known, name: string): fc.Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => fromSchema(choice, known, name)));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  return OF_TYPES[String(schema.type)]?.(schema, known, name) ?? ANY_JSON;
}

type Maker = (schema: Schema, known: Known, name: string) => fc.Arbitrary<unknown>;

const OF_TYPES: Readonly<Record<string, Maker>> = {
  string: text,
  integer,
  number: () => fc.double({ noNaN: true, noDefaultInfinity: true }),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  object,
  array: ({ items = {}, minItems = 0, maxItems = ITEMS_MAX }, known, name) =>
    fc.array(fromSchema(items, known, name), {
      minLength: minItems,
      maxLength: Math.max(minItems, Math.min(maxItems, ITEMS_MAX)),
    }),
};

function integer({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema): fc.Arbitrary<number> {
  const ends = fc.constantFrom(minimum, maximum);
  return fc.oneof(ends, fc.integer({ min: minimum, max: maximum }));
}

function text({
  pattern,
  minLength = 0,
  maxLength = TEXT_MAX_CHARS,
}: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) {
    const fits = ({ length }: string) => length >= minLength && length <= maxLength;
    return fc.stringMatching(new RegExp(pattern)).filter(fits);
  }
  const limit = Math.min(maxLength, TEXT_MAX_CHARS);
  return fc.string({ unit: 'grapheme', minLength, maxLength: limit }).map((made) => {
    const cut = made.slice(0, limit).toWellFormed();
    return cut.length < minLength ? 'x'.repeat(minLength) : cut;
  });
}

function object(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema;
  if (Object.keys(properties).length === 0) {
    if (schema.additionalProperties === false) return fc.constant({});
    return fc.dictionary(fc.string({ maxLength: 10 }), ANY_JSON, { maxKeys: 3 });
  }
  const fields = Object.entries(properties).map(
    ([name, field]): [string, fc.Arbitrary<unknown>] => [name, fromSchema(field, known, name)],
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
}
