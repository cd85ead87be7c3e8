import * as fc from 'fast-check';
import { isObject } from '../../shared/lib/guards.ts';
import type { DescribedRoute } from './described.ts';
import { fromSchema, type Known } from './from-schema.ts';
import { extraField, hostileBody, hostileText, hostileValue, ownObject } from './hostile.ts';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly route: DescribedRoute;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** The field that was made wrong, where one was. */
  readonly wrong?: string;
}

type Fields = Record<string, unknown>;

interface Input {
  readonly path: Fields;
  readonly query: Fields;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string | null;
  readonly body: unknown;
}

/** Nothing is to be waited for, and nothing held. */
const SHORT: Readonly<Fields> = { wait_seconds: 0, timeout_seconds: 1 };
const BYTES_TYPE = 'application/octet-stream';
/** Its body may have the fields of the query. */
const UPLOAD_TYPE = 'application/vnd.service.upload+json';

/** Requests that are as the document wants them. */
export function validRequest(route: DescribedRoute, known: Known): fc.Arbitrary<WireRequest> {
  return validInput(route, known).map((input) => written(route, input));
}

function validInput(route: DescribedRoute, known: Known): fc.Arbitrary<Input> {
  const { parameters, bodies } = route;
  const of = (place: string): fc.Arbitrary<Fields> => {
    const fields = parameters
      .filter((one) => one.in === place && !(place === 'header' && one.name.startsWith('If-')))
      .map(({ name, schema, required }) => ({
        name,
        required,
        values: fromSchema(schema, known, name),
      }));
    return fc.record(Object.fromEntries(fields.map(({ name, values }) => [name, values])), {
      requiredKeys: fields.filter(({ required }) => required).map(({ name }) => name),
    });
  };
  const body =
    bodies.length === 0
      ? fc.constant({ type: null, body: undefined })
      : fc.oneof(
          ...bodies.map(({ type, schema }) =>
            (type === BYTES_TYPE
              ? fc.uint8Array({ maxLength: 200 })
              : fromSchema(schema, known, route.name === 'kv_set' ? '' : 'body')
            ).map((made) => ({ type, body: made })),
          ),
        );
  return fc
    .record({ path: of('path'), query: of('query'), headers: of('header'), body })
    .map(({ path, query, headers, body: { type, body: made } }) => ({
      path,
      query:
        type === UPLOAD_TYPE
          ? {}
          : shortened(
              query,
              parameters.map(({ name }) => name),
            ),
      headers: keyed(route, ascii(headers)),
      type,
      body:
        isObject(made) && !(made instanceof Uint8Array) ? shortened(made, bodyNames(route)) : made,
    }));
}

/** Fields that wait as short as they may, where the schemas know them. */
function shortened(fields: Fields, names: readonly string[]): Fields {
  const given = Object.entries(SHORT).filter(([name]) => names.includes(name));
  return { ...fields, ...Object.fromEntries(given) };
}

function bodyNames({ bodies }: DescribedRoute): string[] {
  return bodies.flatMap(({ schema }) =>
    [schema, ...(schema.oneOf ?? [])].flatMap(({ properties = {} }) => Object.keys(properties)),
  );
}

/** The same with a key that no other operation was called with: that would be refused for the key alone. */
function keyed({ name }: DescribedRoute, headers: Record<string, string>): Record<string, string> {
  const { 'Idempotency-Key': key, ...rest } = headers;
  return key === undefined ? rest : { ...rest, 'Idempotency-Key': `${name}-${key}`.slice(0, 255) };
}

/** A header holds no other characters, and a repeated key would be a repeated call. */
function ascii(headers: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, string] => [
        name,
        String(value).replace(/[^\u0021-\u007e]/g, ''),
      ])
      .filter(([, value]) => value !== ''),
  );
}

function written(route: DescribedRoute, { path, query, headers, type, body }: Input): WireRequest {
  const bytes =
    body === undefined ? undefined : body instanceof Uint8Array ? Buffer.from(body) : asJson(body);
  return {
    route,
    target: targetOf(route, path, query),
    headers: { ...headers, ...(type !== null && { 'content-type': type }) },
    body: bytes,
  };
}

export function asJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value) ?? 'null');
}

function targetOf({ path }: DescribedRoute, parameters: Fields, query: Fields): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(parameters[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.append(name, String(value));
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}

function encoded(value: unknown): string {
  return encodeURIComponent(String(value).toWellFormed());
}

/** Path segments as no client writes them. */
const ODD_SEGMENTS = [
  '%',
  '%%',
  '%2',
  '%zz',
  '%00',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%f8%88%80%80%80',
  '%2e%2e',
  '%2e%2e%2f%2e%2e%2fetc',
  '..%2f',
  '%252e',
  '%5c',
  '%0d%0aX-Injected:%20yes',
  '%20',
  '+',
  ';',
  '*',
  '~',
  "'",
  '%e2%80%ae',
  '%F0%9F%92%A9',
  'a%2fb%2fc',
  '__proto__',
  'constructor',
  'x'.repeat(4000),
  '%41'.repeat(1500),
];

const ODD_TYPES = [
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/jsonp',
  'json',
  ';',
  'APPLICATION/JSON ; a="b',
  'application/json, application/json',
];

/** Requests that are wrong in one way or another. */
export function hostileRequest(route: DescribedRoute, known: Known): fc.Arbitrary<WireRequest> {
  const valid = validInput(route, known);
  const ways: fc.Arbitrary<WireRequest>[] = [
    fc.tuple(valid, extraQuery).map(([input, query]) => withQuery(written(route, input), query)),
    fc
      .tuple(valid, fc.constantFrom(...HOSTILE_HEADERS))
      .map(([input, headers]) => withHeaders(written(route, input), headers)),
  ];
  if (route.path.includes('{')) ways.push(...oddPaths(route, valid));
  if (route.parameters.some((one) => one.in === 'query')) ways.push(oddQuery(route, valid));
  if (route.bodies.length > 0) ways.push(...oddBodies(route, valid));
  return fc.oneof(...ways);
}

const extraQuery = fc
  .tuple(hostileText, hostileText)
  .map(([name, value]) => `${encoded(name).slice(0, 500)}=${encoded(value).slice(0, 1500)}`);

function withQuery(request: WireRequest, query: string): WireRequest {
  const mark = request.target.includes('?') ? '&' : '?';
  return { ...request, target: `${request.target}${mark}${query}` };
}

function withHeaders(request: WireRequest, headers: Record<string, string>): WireRequest {
  return { ...request, headers: { ...request.headers, ...headers } };
}

const HOSTILE_HEADERS: readonly Record<string, string>[] = [
  { 'idempotency-key': 'x'.repeat(256) },
  { 'idempotency-key': '\u00fc' },
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'identity, gzip' },
  { 'if-match': '"0"' },
  { 'if-match': '"1", "2"' },
  { 'if-match': '*' },
  { 'if-match': 'W/"1"' },
  { 'if-none-match': '"' },
  { 'if-none-match': '*', 'if-match': '"1"' },
  { 'x-service-agent': '\u00ff'.repeat(500) },
  { 'x-service-agent': '__proto__' },
  { 'user-agent': '' },
  { 'user-agent': '\u009b31m' },
  { range: 'bytes=0-0,1-1,-1' },
  { range: `bytes=${'9'.repeat(400)}-` },
  { 'x-http-method-override': 'DELETE' },
  { 'x-forwarded-for': '"; DROP' },
  { accept: 'x'.repeat(4000) },
  { expect: '100-continue' },
];

function oddPaths(route: DescribedRoute, valid: fc.Arbitrary<Input>): fc.Arbitrary<WireRequest>[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const segment = fc.oneof(
    fc.constantFrom(...ODD_SEGMENTS),
    hostileText.filter((text) => text.length < 4000).map(encoded),
  );
  return [
    fc.tuple(valid, fc.constantFrom(...names), segment).map(([input, name, odd]) => {
      const request = written(route, { ...input, path: { ...input.path, [name]: 'ODD-SEGMENT' } });
      return { ...request, target: request.target.replace('ODD-SEGMENT', () => odd) };
    }),
  ];
}

function oddQuery(route: DescribedRoute, valid: fc.Arbitrary<Input>): fc.Arbitrary<WireRequest> {
  const names = route.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const value = hostileText.filter((text) => text.length < 4000).map((text) => encoded(text));
  const odd = fc.oneof(
    value,
    fc.constantFrom('%', '%ff', '%00', '1&%6cimit=2', '[]=1', '1e3', '+1', '0b1'),
  );
  return fc.tuple(valid, fc.constantFrom(...names), odd).map(([input, name, text]) => {
    const { [name]: _, ...query } = input.query;
    return withQuery(written(route, { ...input, query }), `${name}=${text}`);
  });
}

function oddBodies(route: DescribedRoute, valid: fc.Arbitrary<Input>): fc.Arbitrary<WireRequest>[] {
  const fields = valid
    .filter(({ body }) => isObject(body) && !(body instanceof Uint8Array))
    // A field in both query and body would be refused.
    .map((input) => ({ ...input, query: {} }));
  const hasFields = route.bodies.some(({ schema }) => schema.properties ?? schema.oneOf);
  const ways = [
    fc.tuple(valid, hostileBody).map(([input, body]) => ({ ...written(route, input), body })),
    fc
      .tuple(valid, fc.constantFrom(...ODD_TYPES))
      .map(([input, type]) => withHeaders(written(route, input), { 'content-type': type })),
    valid.chain((input) => {
      const request = written(route, input);
      const length = request.body?.length ?? 0;
      return fc.nat(length).map((at) => ({ ...request, body: request.body?.subarray(0, at) }));
    }),
  ];
  if (!hasFields) return ways;
  return [
    ...ways,
    fc.tuple(fields, hostileValue, fc.nat(20)).map(([input, value, index]) => {
      const body = input.body as Fields;
      const names = Object.keys(body);
      const name = names[index % Math.max(1, names.length)] ?? '';
      const request = written(route, { ...input, body: { ...body, [name]: value } });
      return { ...request, wrong: name };
    }),
    fc.tuple(fields, extraField).map(([input, [name, value]]) => {
      const body = ownObject([...Object.entries(input.body as Fields), [name, value]]);
      return { ...written(route, { ...input, body }), wrong: name };
    }),
    fc.tuple(fields, hostileValue).map(([input, value]) => {
      // The first of two fields of a name must not be looked at by one reader, and the second by another.
      const text = asJson(input.body).toString('utf8');
      const [name = 'a'] = Object.keys(input.body as Fields);
      const twice = `{${JSON.stringify(name)}:${asJson(value).toString()},${text.slice(1)}`;
      return { ...written(route, input), body: Buffer.from(twice.replace(/,\}$/, '}')) };
    }),
  ];
}
