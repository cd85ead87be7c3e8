import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Sent } from './scenario.ts';

interface Described {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly content?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
}

interface Route {
  /** Paths lead to the service, the path items of webhooks away from it. */
  readonly part: 'paths' | 'components/pathItems';
  readonly path: string;
  readonly method: string;
  readonly described: Described;
}

const JSON_TYPE = 'application/json';
/** What bytes are described as, whatever they call themselves. */
const BYTES_TYPE = 'application/octet-stream';
const ANY_TYPE = '*/*';

/** The published OpenAPI document as what it is: a promise about requests and answers. */
export class Contract {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #sent: ReadonlyMap<string, Route>;

  constructor(document: unknown) {
    this.#ajv.addSchema(document as Record<string, unknown>, 'openapi');
    const { paths, components } = document as {
      readonly paths: Paths;
      readonly components: { readonly pathItems: Paths };
    };
    this.#routes = routesOf('paths', paths);
    this.#sent = routesOf('components/pathItems', components.pathItems);
  }

  /** What is wrong with an answer; nothing when it is as promised. What is no JSON is right by its type. */
  faults(operation: string, status: number, body: unknown, type = JSON_TYPE): string[] {
    const found = this.#find(operation, status);
    if (!found) return [`${operation} promises no answer ${status}`];
    const { route, key, answer } = found;
    if (!answer.content) {
      return body === undefined ? [] : [`${operation} promises no body with ${status}`];
    }
    if (answer.content[type] === undefined) {
      const any = answer.content[ANY_TYPE] !== undefined;
      return any ? [] : [`${operation} promises no ${type} with ${status}`];
    }
    if (type !== JSON_TYPE) return [];
    return this.#faultsAt(route, ['responses', key, 'content', JSON_TYPE], body);
  }

  /** The headers that an answer should have had. */
  missingHeaders(operation: string, status: number, headers: Headers): string[] {
    const described = Object.entries(this.#find(operation, status)?.answer.headers ?? {});
    const promised = described.filter(([, header]) => header.required !== false);
    return promised.map(([name]) => name).filter((name) => !headers.has(name));
  }

  /** What is wrong with what the service itself sent. */
  sentFaults(name: string, headers: Readonly<Record<string, string>>, body: unknown): string[] {
    const route = this.#sent.get(name);
    if (!route) return [`${name} is not described`];
    const missing = (route.described.parameters ?? []).filter((one) => !(one.name in headers));
    return [
      ...missing.map((one) => `there is no header ${one.name}`),
      ...this.#faultsAt(route, ['requestBody', 'content', JSON_TYPE], body),
    ];
  }

  #find(
    operation: string,
    status: number,
  ): { readonly route: Route; readonly key: string; readonly answer: Response } | null {
    const route = this.#routes.get(operation);
    const responses = route?.described.responses ?? {};
    const key = responses[status] ? String(status) : 'default';
    const answer = responses[key];
    return route && answer ? { route, key, answer } : null;
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

  #faultsAt({ part, path, method }: Route, place: readonly string[], value: unknown): string[] {
    const pointer = [...part.split('/'), path, method, ...place, 'schema']
      .map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const validate = this.#ajv.getSchema(`openapi#/${pointer}`);
    if (!validate) return [`There is no schema at ${pointer}`];
    void validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

function routesOf(part: Route['part'], paths: Paths): Map<string, Route> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, described]) =>
        namesOf(described, `${method} ${path}`).map((name): [string, Route] => [
          name,
          { part, path, method, described },
        ]),
      ),
    ),
  );
}

/** Operations that share a route are described as one. */
function namesOf({ operationId }: Described, otherwise: string): string[] {
  return (operationId ?? otherwise).split('_or_');
}

function queryFaults({ path, described }: Route, search: string): string[] {
  const parameters = described.parameters ?? [];
  const known = new Set(parameters.filter((one) => one.in === 'query').map(({ name }) => name));
  return [...new URLSearchParams(search).keys()]
    .filter((name) => !known.has(name))
    .map((name) => `${path} has no query parameter ${name}`);
}
