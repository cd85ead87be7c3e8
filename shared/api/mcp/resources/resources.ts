import { invalid, ServiceError } from '../../../lib/errors.ts';
import { mayCall, type Scope } from '../../../lib/scopes.ts';
import { RESOURCE_KINDS, type ResourceKind } from './resource-kinds.ts';
import type {
  CallSite,
  Completion,
  Resource,
  ResourceContents,
  ResourcePage,
  ResourceTable,
  ResourceTemplate,
  ToolTable,
  Topic,
} from '../tables.ts';
import { parseUri } from './uri.ts';

const PAGE_MAX = 100;
const NOTHING: Completion = { values: [], hasMore: false };

/** The files, values and events of the caller's project. */
export class ProjectResources implements ResourceTable {
  readonly #kinds: readonly ResourceKind[];

  constructor(kinds = RESOURCE_KINDS) {
    this.#kinds = kinds;
  }

  part(tools: ToolTable): ResourceTable {
    const isRead = ({ reader }: ResourceKind): boolean => tools.find(reader.name) !== undefined;
    return new ProjectResources(this.#kinds.filter(isRead));
  }

  /** Lists one kind after another; if a kind ends within a page, the next one fills it. */
  async list(cursor: string | undefined, site: CallSite): Promise<ResourcePage> {
    const kinds = this.#allowed(site.caller.scopes);
    let place = readCursor(cursor, kinds);
    const resources: Resource[] = [];
    for (const kind of kinds.slice(kinds.findIndex(({ scheme }) => scheme === place?.scheme))) {
      const room = PAGE_MAX - resources.length;
      if (room === 0) return { resources, nextCursor: `${kind.scheme}.` };
      const inner = place?.scheme === kind.scheme ? place.inner : undefined;
      const page = await kind.list(inner, room, site);
      resources.push(...page.resources);
      if (page.next !== null) return { resources, nextCursor: `${kind.scheme}.${page.next}` };
      place = null;
    }
    return { resources };
  }

  templates(scopes: readonly Scope[]): readonly ResourceTemplate[] {
    return this.#allowed(scopes).map(({ template }) => template);
  }

  async read(uri: string, site: CallSite): Promise<readonly ResourceContents[] | null> {
    const found = this.#find(uri);
    if (!found) return null;
    const contents = await orNothing(found.kind.read(found.name, site));
    return contents && [{ uri, ...contents }];
  }

  topicOf(uri: string, scopes: readonly Scope[]): Topic | null {
    const kind = this.#find(uri)?.kind;
    return kind && mayCall(scopes, kind.scope, 'read') ? kind.topic : null;
  }

  listTopics(scopes: readonly Scope[]): readonly Topic[] {
    return this.#allowed(scopes).map(({ topic }) => topic);
  }

  async complete(
    template: string,
    variable: string,
    value: string,
    site: CallSite,
  ): Promise<Completion | null> {
    const kind = this.#allowed(site.caller.scopes).find(
      (one) => one.template.uriTemplate === template,
    );
    if (kind?.variable !== variable) return null;
    return (await orNothing(kind.complete(value, site))) ?? NOTHING;
  }

  async mark(uri: string, site: CallSite): Promise<string | null> {
    const found = this.#find(uri);
    return found && orNothing(found.kind.mark(found.name, site));
  }

  #allowed(scopes: readonly Scope[]): readonly ResourceKind[] {
    return this.#kinds.filter(({ scope }) => mayCall(scopes, scope, 'read'));
  }

  #find(uri: string): { readonly kind: ResourceKind; readonly name: string } | null {
    const parsed = parseUri(uri);
    const kind = this.#kinds.find(({ scheme }) => scheme === parsed?.scheme);
    return parsed && kind ? { kind, name: parsed.name } : null;
  }
}

interface ListPosition {
  readonly scheme: string;
  readonly inner: string | undefined;
}

/** Such as `kv.…`: a kind, and the cursor of that kind's list. */
function readCursor(
  cursor: string | undefined,
  kinds: readonly ResourceKind[],
): ListPosition | null {
  if (cursor === undefined) return kinds[0] ? { scheme: kinds[0].scheme, inner: undefined } : null;
  const [scheme = '', inner = ''] = cursor.split('.', 2);
  if (kinds.some((kind) => kind.scheme === scheme)) return { scheme, inner: inner || undefined };
  throw invalid({ path: 'cursor', message: 'Not a cursor of this list.' });
}

/** Treats an invalid name like a missing one. */
async function orNothing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    const isNothing =
      error instanceof ServiceError &&
      (error.code === 'NOT_FOUND' || error.code === 'VALIDATION_FAILED');
    if (isNothing) return null;
    throw error;
  }
}
