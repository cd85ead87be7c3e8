import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { invalid, type FieldProblem } from '../../lib/errors.ts';
import { plainNumbers } from '../../lib/json/exact-json.ts';
import { jsonFault } from '../../lib/json/json-fault.ts';
import { API_BODY_DEFAULT_MAX_BYTES } from '../../lib/limits.ts';
import type { Operation, RawBody } from '../../kernel/operation.ts';
import { parseBoundedJson } from '../../rules/payload/payload.ts';
import { isObject } from '../../lib/guards.ts';
import { nearest } from '../../lib/suggest.ts';
import { fieldKinds, fromTexts, isInQuery, type FieldKind } from '../fields.ts';
import type { Arrival } from '../http.ts';
import { readBody, readPieces, refuseEncoded } from '../read-body.ts';
import { pathParameters } from '../target.ts';
import { conditionOf, setCondition } from '../version-headers.ts';

type Fields = Record<string, unknown>;
type Kinds = ReadonlyMap<string, FieldKind>;

/** The kinds of the fields that a query may contain. */
export function queryKinds(operation: Operation): Kinds {
  const { path, params } = operation.rest;
  const inPath = Array.from(
    path.matchAll(/\{(\w+)\+?\}/g),
    ([, name = '']) => params?.[name] ?? name,
  );
  const kinds = [...fieldKinds(operation)].filter(([field]) => isInQuery(operation, field));
  return new Map(kinds.filter(([field]) => !inPath.includes(field)));
}

/** Combines query, body, path and version headers into one object. */
export async function readInput(
  operation: Operation,
  kinds: Kinds,
  arrival: Arrival,
  target: string,
): Promise<Fields> {
  const { rest } = operation;
  const hasBody = rest.method === 'POST' || rest.method === 'PUT';
  const condition = conditionOf(operation, arrival.incoming.headers);
  const query = fromQuery(target, kinds);
  const input = hasBody ? withBody(query, await bodyFields(rest, arrival)) : query;
  for (const [name, value] of pathParameters(rest.path, target)) {
    input[rest.params?.[name] ?? name] = value;
  }
  setCondition(input, condition);
  return input;
}

/** The query parameters, parsed by kind. VALIDATION_FAILED names each that the operation doesn't take. */
function fromQuery(target: string, kinds: Kinds): Fields {
  const start = target.indexOf('?');
  if (start < 0) return {};
  const query = new URLSearchParams(target.slice(start + 1));
  const unknown = [...new Set(query.keys())].filter((name) => !kinds.has(name));
  if (unknown.length > 0) throw invalid(...unknownNames(unknown, [...kinds.keys()]));
  const input: Fields = {};
  for (const [name, kind] of kinds) {
    const texts = query.getAll(name);
    if (texts.length > 0) input[name] = fromTexts(kind, texts);
  }
  return input;
}

/** Nobody reads more of them, nor longer ones. */
const UNKNOWN_MAX = 20;
const NAME_MAX_CHARS = 64;

function unknownNames(names: readonly string[], known: readonly string[]): FieldProblem[] {
  return names.slice(0, UNKNOWN_MAX).map((name) => {
    const path = name.slice(0, NAME_MAX_CHARS);
    const meant = nearest(path, known);
    const guess = meant === null ? '' : ` Did you mean \`${meant}\`?`;
    return { path, message: `Unknown in the query.${guess}` };
  });
}

function withBody(query: Fields, body: Fields): Fields {
  const twice = Object.keys(query).filter((field) => Object.hasOwn(body, field));
  if (twice.length === 0) {
    // Spreading copies: `__proto__` in a body becomes an own member that validation refuses, never a prototype.
    return { ...query, ...body };
  }
  throw invalid(
    ...twice.map((path) => ({ path, message: 'Stands in the query and in the body.' })),
  );
}

async function bodyFields(rest: Operation['rest'], arrival: Arrival): Promise<Fields> {
  const { body: raw, bodyMaxBytes = API_BODY_DEFAULT_MAX_BYTES } = rest;
  if (raw?.as === 'json') {
    return { [raw.field]: await jsonValue(arrival, raw.field, bodyMaxBytes) };
  }
  if (!raw) return exactFields(arrival, bodyMaxBytes);
  if (!isType(arrival.incoming, raw.objectType)) return bytesFields(arrival, raw, bodyMaxBytes);
  return objectOf(await jsonBody(arrival, API_BODY_DEFAULT_MAX_BYTES));
}

/** The fields of a body, which must be a JSON object with a JSON Content-Type. Empty without a body. */
export async function readFields(
  arrival: Arrival,
  maxBytes = API_BODY_DEFAULT_MAX_BYTES,
): Promise<Fields> {
  const fields = await exactFields(arrival, maxBytes);
  plainNumbers(fields);
  return fields;
}

/** Like `readFields`, but with numbers as the caller wrote them. */
async function exactFields(arrival: Arrival, maxBytes: number): Promise<Fields> {
  if (isBodiless(arrival.incoming)) return {};
  if (!isType(arrival.incoming, 'application/json')) {
    throw invalid({ path: 'Content-Type', message: 'Expected `application/json`.' });
  }
  const body = await jsonBody(arrival, maxBytes);
  // A client that always names the type of a body sends an empty one for no fields.
  return body.length === 0 ? {} : objectOf(body);
}

async function jsonBody(arrival: Arrival, maxBytes: number): Promise<Buffer> {
  refuseEncoded(arrival.incoming);
  return readBody(arrival, maxBytes);
}

function objectOf(body: Buffer): Fields {
  const value = isUtf8(body) ? parseBoundedJson(body) : undefined;
  if (isObject(value)) return value;
  const why = value === undefined ? faultOf(body) : '';
  throw invalid({ path: '', message: `The body must be a JSON object.${why}` });
}

/** Why a body can't be read as JSON, as a sentence to follow another. */
function faultOf(body: Buffer): string {
  if (!isUtf8(body)) return ' It is not valid UTF-8.';
  const place = jsonFault(body.toString('utf8'));
  if (place !== null) return ` It stops being JSON at ${place}.`;
  return ' It is nested too deep, has too many values, or a number beyond a double.';
}

/** Any JSON with any Content-Type; refuses only forms without reading them. */
async function jsonValue(arrival: Arrival, field: string, maxBytes: number): Promise<unknown> {
  const type = mediaType(arrival.incoming);
  if (type === 'application/x-www-form-urlencoded' || type.startsWith('multipart/')) {
    throw invalid({ path: 'Content-Type', message: 'Expected JSON, not a form.' });
  }
  refuseEncoded(arrival.incoming);
  const body = await readBody(arrival, maxBytes);
  if (body.length === 0) throw invalid({ path: field, message: 'The body is empty.' });
  if (!isUtf8(body)) throw invalid({ path: field, message: 'The body is not valid UTF-8.' });
  const value = parseBoundedJson(body);
  if (value !== undefined) return value;
  throw invalid({ path: field, message: `The body must be one JSON value.${faultOf(body)}` });
}

async function bytesFields(
  arrival: Arrival,
  { field, typeField }: RawBody,
  maxBytes: number,
): Promise<Fields> {
  refuseEncoded(arrival.incoming);
  const { headers } = arrival.incoming;
  // Whoever forgot the body would replace what is stored by nothing.
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    const message = 'There is no body. If it is meant to be empty, send `Content-Length: 0`.';
    throw invalid({ path: field, message });
  }
  const bytes = await readPieces(arrival, maxBytes);
  const type = headers['content-type'];
  return { [field]: bytes, ...(typeField !== undefined && type && { [typeField]: type }) };
}

/** Whether a request has neither a body nor a header that describes one. */
function isBodiless({ headers }: IncomingMessage): boolean {
  const length = Number(headers['content-length'] ?? 0);
  return (
    length === 0 &&
    headers['content-type'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

function isType(incoming: IncomingMessage, expected: string | undefined): boolean {
  return expected !== undefined && mediaType(incoming) === expected.toLowerCase();
}

/** The media type without parameters, or an empty text. */
function mediaType(incoming: IncomingMessage): string {
  const [type = ''] = (incoming.headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}
