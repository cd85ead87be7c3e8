import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Sent } from './scenario.ts';

interface Described {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, { readonly content?: unknown }>>;
}

interface Route {
  readonly path: string;
  readonly method: string;
  readonly described: Described;
}

const JSON_TYPE = 'application/json';
/** What bytes are described as, whatever they call themselves. */
const BYTES_TYPE = 'application/octet-stream';

/** The published OpenAPI document as what it is: a promise about requests and answers. */
export class Contract {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #routes: ReadonlyMap<string, Route>;

  constructor(document: unknown) {
    this.#ajv.addSchema(document as Record<string, unknown>, 'openapi');
    const { paths } = document as { paths: Record<string, Record<string, Described>> };
    this.#routes = new Map(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, described]) => [
          described.operationId ?? `${method} ${path}`,
          { path, method, described },
        ]),
      ),
    );
  }

  /** What is wrong with an answer; nothing when it is as promised. */
  faults(operation: string, status: number, body: unknown): string[] {
    const route = this.#routes.get(operation);
    const answer = route?.described.responses[status];
    if (!route || !answer) return [`${operation} promises no answer ${status}`];
    if (answer.content) {
      return this.#faultsAt(route, ['responses', String(status), 'content', JSON_TYPE], body);
    }
    return body === undefined ? [] : [`${operation} promises no body with ${status}`];
  }

  /** What is wrong with a request; nothing when it is as described. */
  requestFaults(operation: string, { method, path, carried }: Sent): string[] {
    const route = this.#routes.get(operation);
    if (!route) return [`${operation} is not described`];
    const [target = '', search = ''] = path.split('?', 2);
    const wanted = new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    const fits = method.toLowerCase() === route.method && wanted.test(target);
    return [
      ...(fits ? [] : [`${method} ${target} is not the route of ${operation}`]),
      ...queryFaults(route, search),
      ...this.#bodyFaults(route, carried),
    ];
  }

  #bodyFaults(route: Route, { body, bytes, type = JSON_TYPE }: Sent['carried']): string[] {
    const kind = bytes ? BYTES_TYPE : type;
    const isDescribed = route.described.requestBody?.content[kind] !== undefined;
    if (isDescribed !== (body !== undefined || bytes !== undefined)) {
      return [`the described body of ${route.path} is another one`];
    }
    return body === undefined ? [] : this.#faultsAt(route, ['requestBody', 'content', kind], body);
  }

  #faultsAt({ path, method }: Route, place: readonly string[], value: unknown): string[] {
    const pointer = ['paths', path, method, ...place, 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const validate = this.#ajv.getSchema(`openapi#/${pointer}`);
    if (!validate) return [`There is no schema at ${pointer}`];
    void validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}

function queryFaults({ path, described }: Route, search: string): string[] {
  const parameters = described.parameters ?? [];
  const known = new Set(parameters.filter((one) => one.in === 'query').map(({ name }) => name));
  return [...new URLSearchParams(search).keys()]
    .filter((name) => !known.has(name))
    .map((name) => `${path} has no query parameter ${name}`);
}
