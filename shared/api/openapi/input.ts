import type { Operation, RawBody } from '../../kernel/operation.ts';
import { pascal, type Schemas } from './schemas.ts';
import { fieldKinds, isInQuery, jsonSchema } from '../fields.ts';
import { REPLAYED_HEADER } from '../answer-marks.ts';
import { versionConditions } from '../version-headers.ts';

type Json = Record<string, unknown>;

/** The body of a request, by Content-Type. */
export interface RequestBody {
  readonly required: boolean;
  readonly description?: string;
  readonly content: Readonly<Record<string, Content>>;
}

interface Content {
  readonly schema: Json;
  readonly example?: unknown;
  readonly examples?: Json;
}

/** The path and query parameters and the headers of an operation. */
export function inputParameters(operation: Operation): Json[] {
  return [
    ...fieldParameters(operation),
    ...versionParameters(operation),
    ...(operation.effect === 'write' ? [IDEMPOTENCY_PARAMETER] : []),
  ];
}

export const IDEMPOTENCY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    '1–255 printable ASCII characters. A repeat with the same key and input within 24 hours has one effect.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
};

/** The header of an answer that repeats another. */
export const REPLAYED_HEADERS = {
  [REPLAYED_HEADER]: {
    required: false,
    description:
      '`true` if an earlier call under this Idempotency-Key made the write; otherwise not sent.',
    schema: { type: 'string', enum: ['true'] },
  },
};

const IF_CHANGED_PARAMETER = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'ETags of answers you have: if one is current, the answer is 304 without a body.',
  schema: { type: 'string' },
};

const CONDITION_PARAMETERS = [
  {
    name: 'If-Match',
    in: 'header',
    required: false,
    description:
      'The ETag that the current version must have, like `if_version`; `*` where any will do, like `if_exists`.',
    schema: { type: 'string', pattern: '^("[1-9][0-9]*"|\\*)$' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: '`*` where nothing may be stored yet, as `if_version` 0 otherwise.',
    schema: { type: 'string', enum: ['*'] },
  },
] as const;

function versionParameters(operation: Operation): Json[] {
  const { versioned, method } = operation.rest;
  if (versioned && method === 'GET') return [IF_CHANGED_PARAMETER];
  const taken = versionConditions(operation);
  return CONDITION_PARAMETERS.filter(({ name }) => taken.includes(name));
}

/** The parameters in a path, as `[name in the path, field of the input]`. */
function pathNames({ rest }: Operation): [string, string][] {
  return [...rest.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => [
    name,
    rest.params?.[name] ?? name,
  ]);
}

function inputParts(operation: Operation): {
  properties: Record<string, Json>;
  required: readonly string[];
} {
  const schema = jsonSchema(operation.input, 'input');
  return {
    properties: (schema['properties'] ?? {}) as Record<string, Json>,
    required: (schema['required'] ?? []) as string[],
  };
}

function fieldParameters(operation: Operation): Json[] {
  const { properties, required } = inputParts(operation);
  const kinds = fieldKinds(operation);
  const inPath = new Map(pathNames(operation).map(([name, field]) => [field, name]));
  // A field that the body may contain instead isn't required in the query.
  const elsewhere = operation.rest.body?.objectType !== undefined;
  return Object.entries(properties)
    .filter(([field]) => inPath.has(field) || isInQuery(operation, field))
    .map(([field, { description, ...schema }]) => {
      const pathName = inPath.get(field);
      const value = withoutUndefined({ schema, example: operation.example[field] });
      return {
        name: pathName ?? field,
        in: pathName === undefined ? 'query' : 'path',
        required: pathName !== undefined || (required.includes(field) && !elsewhere),
        ...(description !== undefined && { description }),
        // A query contains an object as JSON, not as one parameter per member.
        ...(kinds.get(field) === 'json' ? { content: { 'application/json': value } } : value),
      };
    });
}

/** The body of a POST or PUT. */
export function requestBody(operation: Operation, schemas: Schemas): RequestBody {
  const { body: raw } = operation.rest;
  if (!raw) {
    const { isNeeded, ...body } = fieldsBody(operation, schemas);
    return { required: isNeeded, content: { 'application/json': body } };
  }
  return {
    required: true,
    description: rawText(raw),
    content: rawContent(operation, raw, schemas),
  };
}

function rawText({ as, typeField }: RawBody): string {
  if (as === 'json') return 'Any JSON, with any Content-Type except those of forms.';
  const type = typeField === undefined ? '' : ` Its Content-Type becomes \`${typeField}\`.`;
  return `The bytes as they are, under any Content-Type.${type}`;
}

function rawContent(
  operation: Operation,
  { as, field, objectType }: RawBody,
  schemas: Schemas,
): RequestBody['content'] {
  if (as === 'json') {
    const schema = inputParts(operation).properties[field] ?? {};
    const example = operation.example[field];
    return { 'application/json': { schema, ...(example !== undefined && { example }) } };
  }
  // The field's description is about base64, but a body has raw bytes.
  const bytes = { schema: { type: 'string', format: 'binary' } };
  if (objectType === undefined) return { 'application/octet-stream': bytes };
  const { isNeeded: _, ...fields } = fieldsBody(operation, schemas, field);
  return { 'application/octet-stream': bytes, [objectType]: fields };
}

/** A JSON object of the fields that aren't in the path. If the body is usually bytes, leaves out the bytes' field. */
function fieldsBody(
  operation: Operation,
  schemas: Schemas,
  bytesField?: string,
): Content & { readonly isNeeded: boolean } {
  const { properties, required } = schemas.fields(operation.input);
  const left = new Set([...pathNames(operation).map(([, field]) => field), bytesField]);
  const fields = Object.entries(properties).filter(([field]) => !left.has(field));
  const needed = required.filter((field) => !left.has(field));
  const example = Object.entries(operation.example).filter(([field]) => !left.has(field));
  return {
    isNeeded: needed.length > 0,
    schema: schemas.add(`${pascal(operation.name)}Input`, {
      description: `What ${operation.name} takes.`,
      type: 'object',
      properties: Object.fromEntries(fields),
      ...(needed.length > 0 && { required: needed }),
      additionalProperties: false,
    }),
    // An example with bytes doesn't fit a body without them.
    ...(!(bytesField && bytesField in operation.example) && {
      example: Object.fromEntries(example),
    }),
  };
}

function withoutUndefined(value: Json): Json {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
