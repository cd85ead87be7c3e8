import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { jsonSchema } from '../../shared/api/fields.ts';
import { openApiDocument } from '../../shared/api/openapi/document.ts';
import { pascal } from '../../shared/api/openapi/schemas.ts';
import type { Operation } from '../../shared/kernel/operation.ts';
import { atOnce } from './at-once.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { operations } from '../../shared/operations/index.ts';
import { endpointOf } from './shape-of.ts';

/** A JSON Schema, as far as the clients' types need it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
  readonly default?: unknown;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface OpenApiOperation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

/** Their methods are written by hand, because they do more than one call. */
const BY_HAND: ReadonlySet<string> = new Set([
  'ask_approval',
  'ask_human',
  'file_get',
  'inbox_wait',
]);

const FOLDER = 'clients/typescript/generated';
const HEAD = '// Written by the build, and by `npm run generate`, from the operations.\n\n';
const SERVER = { version: VERSION, urls: { api: '', mcp: '', hooks: '' } };

/** Writes the types, endpoints and methods of the TypeScript client, which the tree doesn't have. */
export function writeClientFiles(): void {
  mkdirSync(FOLDER, { recursive: true });
  const files = new Map(clientFiles().map(([name, text]) => [`${name}.ts`, text]));
  // An earlier release may have written files under other names.
  for (const file of readdirSync(FOLDER)) if (!files.has(file)) rmSync(`${FOLDER}/${file}`);
  for (const [file, text] of files) writeFileSync(`${FOLDER}/${file}`, text);
}

function clientFiles(): [name: string, text: string][] {
  const document = documentOf();
  return [
    ['types', typesText(document)],
    ['endpoints', endpointsText()],
    ['methods', methodsText(document)],
  ];
}

function documentOf(): Document {
  const made = atOnce(openApiDocument(operations, SERVER, { signIn: true }));
  return JSON.parse(JSON.stringify(made)) as Document;
}

/** What every operation takes and answers. */
function typesText(document: Document): string {
  // An input of the client also has the fields that stand in the path or in the query.
  const inputs = new Set(operations.map(({ name }) => `${pascal(name)}Input`));
  const parts = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    inputs.has(name) ? [] : [declared(name, schema)],
  );
  for (const operation of operations) {
    const name = pascal(operation.name);
    parts.push(declared(`${name}Input`, jsonSchema(operation.input, 'input'), operation.summary));
    const answer = answerSchema(document, operation);
    if (!answer.$ref) parts.push(declared(`${name}Answer`, answer, operation.summary));
  }
  parts.push(operationsText(document));
  return HEAD + parts.join('\n');
}

/** The types of each operation, by its name. */
function operationsText(document: Document): string {
  const rows = operations.map((one) => {
    const types = `input: ${pascal(one.name)}Input; readonly answer: ${answerType(document, one)}`;
    return `readonly ${one.name}: { readonly ${types} };`;
  });
  return `/** What each operation takes and answers. */\nexport interface Operations {\n${rows.join('\n')}\n}\n`;
}

/** The name of the type of an operation's answer. */
function answerType(document: Document, operation: Operation): string {
  const { $ref } = answerSchema(document, operation);
  return $ref === undefined ? `${pascal(operation.name)}Answer` : nameOf($ref);
}

/** Where each operation is called. */
function endpointsText(): string {
  const table = operations.map((one) => `${one.name}: ${JSON.stringify(endpointOf(one))},`);
  return `${HEAD}import type { Endpoint } from '../call/endpoint.ts';

/** Where each operation is called. */
export const ENDPOINTS = {\n${table.join('\n')}\n} satisfies Record<string, Endpoint>;
`;
}

/** A method for each operation. */
function methodsText(document: Document): string {
  const nouns = new Map<string, Operation[]>();
  for (const operation of operations.filter(({ name }) => !BY_HAND.has(name))) {
    const noun = /^([a-z]+)_/.exec(operation.name)?.[1] ?? '';
    nouns.set(noun, [...(nouns.get(noun) ?? []), operation]);
  }
  const methods = [...nouns].map(([noun, own]) =>
    noun === ''
      ? own.map((one) => `${method(document, one, one.name, ' = ')};`).join('\n\n')
      : `readonly ${noun} = {\n${own.map((one) => `${method(document, one, verbOf(one), ': ')},`).join('\n')}\n};`,
  );
  return `${HEAD}import type { CallOptions, RunOperation } from '../call/endpoint.ts';
import { List } from '../call/list.ts';
import { ENDPOINTS } from './endpoints.ts';
import type * as T from './types.ts';

/** A method for each operation. */
export class Methods {
  readonly #run: RunOperation;

  constructor(run: RunOperation) {
    this.#run = run;
  }

${methods.join('\n\n')}
}
`;
}

function method(
  document: Document,
  operation: Operation,
  name: string,
  sign: ' = ' | ': ',
): string {
  const { summary, input } = operation;
  const type = pascal(operation.name);
  const answer = `T.${answerType(document, operation)}`;
  const isOptional = !(jsonSchema(input, 'input')['required'] as unknown[] | undefined)?.length;
  const given = `input: T.${type}Input${isOptional ? ' = {}' : ''}, options?: CallOptions`;
  const call = `this.#run(ENDPOINTS.${operation.name}, input, options)`;
  const isField = sign === ' = ' ? 'readonly ' : '';
  if (isList(operation)) {
    const list = `List<${answer}['items'][number], ${answer}>`;
    return `/** ${summary} */\n${isField}${name}${sign}(${given}): ${list} => new List((cursor) => this.#run(ENDPOINTS.${operation.name}, { ...input, ...cursor }, options))`;
  }
  return `/** ${summary} */\n${isField}${name}${sign}(${given}): Promise<${answer}> => ${call}`;
}

function isList({ output, input }: Operation): boolean {
  const properties = jsonSchema(output, 'output')['properties'] as object | undefined;
  if (properties === undefined || !('cursor' in input.shape)) return false;
  return 'items' in properties && 'next_cursor' in properties;
}

/** `request_callback_secret`: `callbackSecret`. */
function verbOf({ name }: Operation): string {
  return name
    .split('_')
    .slice(1)
    .join('_')
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** What the document says of an operation's answer, or the operation itself. */
export function answerSchema({ paths }: Document, { rest, output }: Operation): Schema {
  const path = rest.path.replace('+}', '}');
  const responses = paths[path]?.[rest.method.toLowerCase()]?.responses ?? {};
  const described = (responses['200'] ?? responses['201'])?.content?.['application/json']?.schema;
  return described ?? jsonSchema(output, 'output');
}

function declared(name: string, schema: Schema, summary = schema.description): string {
  const comment = summary === undefined ? '' : `/** ${summary} */\n`;
  const isPlain = schema.properties !== undefined && !schema.anyOf && !schema.oneOf;
  const isMap = schema.properties === undefined || Object.keys(schema.properties).length === 0;
  return isPlain && !isMap && !schema.$ref
    ? `${comment}export interface ${name} ${typeText(schema)}\n`
    : `${comment}export type ${name} = ${typeText(schema)};\n`;
}

/** The TypeScript of a schema. Enumerations take other texts too, so a newer server's answer still fits. */
function typeText(schema: Schema): string {
  const { $ref, enum: values, anyOf, oneOf, allOf, type } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (values) return enumText(values);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (allOf) return allOf.map(typeText).join(' & ');
  const either = anyOf ?? oneOf;
  if (either) return union(either.map(typeText));
  if (typeof type === 'object') {
    return union(type.map((one) => typeText({ ...schema, type: one })));
  }
  return singleText(schema);
}

function nameOf(ref: string): string {
  return ref.replace('#/components/schemas/', '');
}

function singleText(schema: Schema): string {
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `readonly (${typeText(schema.items ?? {})})[]`;
    case 'object':
      return objectText(schema);
    default:
      return 'unknown';
  }
}

function enumText(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  const isText = values.some((value) => typeof value === 'string');
  return union(isText ? [...texts, '(string & {})'] : texts);
}

function union(types: readonly string[]): string {
  return `(${[...new Set(types)].join(' | ')})`;
}

function objectText({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    const comment = field.description === undefined ? '' : `/** ${field.description} */\n`;
    const mark = required.includes(name) ? '' : '?';
    const type = typeText(field);
    const undefinedToo = required.includes(name) || type === 'unknown' ? '' : ' | undefined';
    return `${comment}readonly ${name}${mark}: ${type}${undefinedToo};`;
  });
  if (fields.length > 0) return `{\n${fields.join('\n')}\n}`;
  const value = typeof additionalProperties === 'object' ? typeText(additionalProperties) : null;
  return `Readonly<Record<string, ${value ?? 'unknown'}>>`;
}
