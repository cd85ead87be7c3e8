import { readFileSync } from 'node:fs';
import { operationShapes } from '../../cli/shapes/operations.ts';
import { toolList } from '../../shared/api/mcp/tools.ts';
import type { Operation } from '../../shared/kernel/operation.ts';
import { operations } from '../../shared/operations/index.ts';
import { SCOPES, type Scope } from '../../shared/lib/scopes.ts';
import { helpText, openApiText } from './files.ts';

export const PINS = 'test/surface/operations';

/** What callers see of one operation: it stands in a file of its own, so that a change of it shows in one place. */
export interface Pin {
  readonly name: string;
  readonly route: string;
  /** The status of its success. */
  readonly status: number;
  readonly scope: Scope | 'any';
  readonly effect: Operation['effect'];
  /** Its fields, in their order. */
  readonly takes: readonly string[];
  /** Where the body is no object of fields. */
  readonly body?: NonNullable<Operation['rest']['body']>;
  /** The version of its answer is its ETag. */
  readonly versioned?: true;
  readonly errors: readonly string[];
  /** Its entry in the OpenAPI document; null if it shares one that another operation has. */
  readonly openapi: Json | null;
  /** The schemas that only this operation uses. */
  readonly schemas: Readonly<Record<string, Json>>;
  /** Null where agents don't see it. */
  readonly tool: Json | null;
  /** Its help page, line by line. */
  readonly help: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;
type Entries = Record<string, Record<string, Json>>;

interface Document {
  readonly paths: Entries;
  readonly webhooks: Json;
  readonly components: {
    readonly schemas: Record<string, Json>;
    readonly pathItems: Json;
  };
}

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;
const NO_OPERATION = 'no operation';

/** Everything that callers see: a pin for each operation, and the rest of the documents. */
interface Surface {
  readonly pins: readonly Pin[];
  /** The OpenAPI document without what the pins have. */
  readonly document: Json;
  /** The help pages that belong to no operation. */
  readonly help: string;
}

/** The pin of an operation as the tree has it. */
export function pinned(name: string): Pin {
  return JSON.parse(readFileSync(`${PINS}/${name}.json`, 'utf8')) as Pin;
}

/** The surface as the operations make it. */
export function surface(): Surface {
  const document = JSON.parse(openApiText()) as Document;
  const ownerOf = schemaOwners(document);
  const tools = new Map(toolList(operations, SCOPES).map((tool) => [tool.name, tool]));
  const pages = new Map(
    helpText()
      .split(/^(?=\$ svc)/m)
      .map((page) => [page.split('\n')[0], page]),
  );
  const pins = operations.map((operation): Pin => {
    const { name, rest, scope, effect, errors, input } = operation;
    const title = titleOf(name);
    const help = pages.get(title) ?? '';
    pages.delete(title);
    const { body, versioned } = rest;
    return {
      name,
      route: `${rest.method} ${rest.path}`,
      status: rest.status ?? 200,
      scope,
      effect,
      takes: Object.keys(input.shape),
      ...(body && { body }),
      ...(versioned && { versioned }),
      errors,
      openapi: takeEntry(document, operation),
      schemas: takeSchemas(document, ownerOf, name),
      tool: (tools.get(name) as Json | undefined) ?? null,
      help: help.trimEnd().split('\n'),
    };
  });
  return { pins, document: { ...document }, help: [...pages.values()].join('') };
}

function titleOf(name: string): string {
  const { words } = operationShapes.find((one) => one.name === name) ?? { words: [] };
  return `$ ${['svc', ...words, '--help'].join(' ')}`;
}

function entryOf({ rest }: Operation): readonly [path: string, method: string] {
  return [rest.path.replaceAll('+}', '}'), rest.method.toLowerCase()];
}

/** Takes the operation's entry out of the document. */
function takeEntry({ paths }: Document, operation: Operation): Json | null {
  const [path, method] = entryOf(operation);
  const entry = paths[path]?.[method] ?? null;
  if (entry) delete paths[path]?.[method];
  return entry;
}

function takeSchemas(
  { components: { schemas } }: Document,
  ownerOf: ReadonlyMap<string, string>,
  name: string,
): Record<string, Json> {
  const own = Object.entries(schemas).filter(([schema]) => ownerOf.get(schema) === name);
  for (const [schema] of own) delete schemas[schema];
  return Object.fromEntries(own);
}

/** The operation that uses a schema, of those that nothing else uses. */
function schemaOwners({ paths, webhooks, components }: Document): Map<string, string> {
  const users = new Map<string, Set<string>>();
  const visit = (part: unknown, user: string): void => {
    for (const [, name = ''] of JSON.stringify(part ?? null).matchAll(REFERENCE)) {
      const known = users.get(name) ?? new Set();
      if (known.has(user)) continue;
      users.set(name, known.add(user));
      visit(components.schemas[name], user);
    }
  };
  // Of two operations with one route, the first has its entry.
  const owners = new Map(operations.toReversed().map((one) => [entryOf(one).join(' '), one.name]));
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, entry] of Object.entries(methods)) {
      visit(entry, owners.get(`${path} ${method}`) ?? NO_OPERATION);
    }
  }
  visit([webhooks, components.pathItems], NO_OPERATION);
  const owned = [...users].flatMap(([schema, [user = '', other]]) =>
    other === undefined && user !== NO_OPERATION ? [[schema, user] as const] : [],
  );
  return new Map(owned);
}
