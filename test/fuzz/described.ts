import { withoutRefs } from '../helpers/openapi-refs.ts';
import type { Schema } from './from-schema.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

/** A route as the published document has it. */
export interface DescribedRoute {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The schema of each kind of body it takes. */
  readonly bodies: readonly { readonly type: string; readonly schema: Schema }[];
  /** A key is needed. */
  readonly isKeyed: boolean;
}

interface Described {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> };
  readonly security?: readonly unknown[];
}

/** All routes of a document. */
export function routesOf(document: unknown): DescribedRoute[] {
  const { paths } = withoutRefs(document, document) as {
    paths: Record<string, Record<string, Described>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(isMethod)
      .map(([method, described]) => ({
        // Two operations share a route, which can give both their answers.
        name: (described.operationId ?? '').split('_or_')[0] ?? '',
        method: method.toUpperCase(),
        path,
        parameters: described.parameters ?? [],
        bodies: Object.entries(described.requestBody?.content ?? {}).map(([type, { schema }]) => ({
          type,
          schema,
        })),
        isKeyed: described.security === undefined,
      })),
  );
}

/** A path has other members too, such as its own servers. */
function isMethod([name]: [string, Described]): boolean {
  return ['get', 'head', 'post', 'put', 'delete'].includes(name);
}
