import type { CallerOptions } from '../core/caller.ts';
import { pathText } from '../../../shared/lib/path-text.ts';
import { SvcError } from '../core/errors.ts';
import type { Endpoint } from './endpoint.ts';

type Query = NonNullable<CallerOptions['query']>;
type Fields = Readonly<Record<string, unknown>>;
type Stringify = (value: unknown) => string;

interface OperationRequest {
  readonly method: string;
  readonly path: string;
  readonly options: Pick<CallerOptions, 'query' | 'body' | 'bytes' | 'headers'>;
}

/** Puts each field where the operation's route has it. Throws VALIDATION_FAILED if one that the path needs is missing. */
export function requestOf(
  endpoint: Endpoint,
  fields: object,
  stringify: Stringify = JSON.stringify,
): OperationRequest {
  const { method, params, body } = endpoint;
  const given = Object.entries(fields as Fields).filter(([, value]) => value !== undefined);
  const left: Record<string, unknown> = Object.fromEntries(given);
  const path = endpoint.path.replaceAll(/\{(\w+)\+?\}/g, (whole, name: string) => {
    const field = params?.[name] ?? name;
    const value = left[field];
    if (typeof value !== 'string' || value === '') throw missing(field);
    delete left[field];
    return pathText(endpoint.path, whole, value);
  });
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : stringify(value));
  if (method === 'GET' || method === 'DELETE') {
    return { method, path, options: { query: queryOf(left, textOf) } };
  }
  const options = body ? rawOptions(body, left, textOf) : { body: left };
  return { method, path, options };
}

/** The whole body is one field; the others are in the query. */
function rawOptions(
  { field, as, typeField, objectType }: NonNullable<Endpoint['body']>,
  left: Fields,
  textOf: Stringify,
): OperationRequest['options'] {
  if (objectType !== undefined && !Object.hasOwn(left, field)) {
    return { body: left, headers: { 'content-type': objectType } };
  }
  const { [field]: value, [typeField ?? '']: type, ...others } = left;
  const query = queryOf(others, textOf);
  if (as === 'json') return { body: value, query };
  const headers = typeof type === 'string' ? { 'content-type': type } : {};
  if (typeof value !== 'string') throw missing(field);
  return { bytes: bytesOf(value), headers, query };
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function queryOf(fields: Fields, textOf: Stringify): Query {
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(textOf) : textOf(value),
  ]);
  return Object.fromEntries(texts) as Query;
}

function missing(field: string): SvcError {
  const message = `The call needs ${field}.`;
  return new SvcError({
    code: 'VALIDATION_FAILED',
    message,
    details: { fields: [{ path: field }] },
  });
}
