import { pathText } from '../../shared/lib/path-text.ts';
import { isBytes, type Bytes } from '../../shared/lib/bytes.ts';
import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { versionConditions } from '../../shared/api/version-headers.ts';
import { fieldKinds, isInQuery, type FieldKind } from '../../shared/api/fields.ts';
import type { Method, Operation, RawBody } from '../../shared/kernel/operation.ts';
import { isObject } from '../../shared/lib/guards.ts';

/** An HTTP request that `readInput` turns back into the same input. */
export interface RestRequest {
  readonly method: Method;
  /** Path and query, encoded. */
  readonly target: string;
  /** The body's content type, and the version condition. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Bytes | null;
}

type Fields = Record<string, unknown>;
type RequestContent = Pick<RestRequest, 'headers' | 'body'> & {
  /** The fields that don't fit into the body. */
  readonly left: Fields;
};

const JSON_TYPE = { 'content-type': 'application/json' };

/** Builds the request for an operation. The input must be valid. */
export function requestOf(operation: Operation, input: unknown): RestRequest {
  const { rest } = operation;
  const fields: Fields = isObject(input) ? { ...input } : {};
  const path = rest.path.replaceAll(/\{(\w+)\+?\}/g, (whole, parameter: string) => {
    const field = rest.params?.[parameter] ?? parameter;
    const value = String(fields[field]);
    delete fields[field];
    return pathText(rest.path, whole, value);
  });
  const condition = takeCondition(operation, fields);
  const hasBody = rest.method === 'POST' || rest.method === 'PUT';
  const { headers, body, left } = hasBody
    ? bodyOf(rest.body, fields)
    : { headers: {}, body: null, left: fields };
  return {
    method: rest.method,
    target: path + queryOf(operation, left),
    headers: { ...headers, ...condition },
    body,
  };
}

/** Removes `if_version` from the fields and returns the equivalent header. */
function takeCondition(operation: Operation, fields: Fields): Record<string, string> {
  const { if_version: version } = fields;
  if (typeof version !== 'number') return {};
  const header = version === 0 ? 'If-None-Match' : 'If-Match';
  if (!versionConditions(operation).includes(header)) return {};
  delete fields['if_version'];
  return { [header.toLowerCase()]: version === 0 ? '*' : `"${version}"` };
}

function bodyOf(raw: RawBody | undefined, fields: Fields): RequestContent {
  if (!raw) return { headers: JSON_TYPE, body: stringifyExact(fields), left: {} };
  const { [raw.field]: whole, ...left } = fields;
  if (raw.as === 'json') {
    // Left out, the gateway refuses it by name.
    return whole === undefined
      ? { headers: {}, body: null, left }
      : { headers: JSON_TYPE, body: stringifyExact(whole), left };
  }
  if (whole === undefined) {
    const headers = { 'content-type': raw.objectType ?? '' };
    return { headers, body: stringifyExact(left), left: {} };
  }
  const { [raw.typeField ?? '']: type, ...query } = left;
  const headers = typeof type === 'string' ? { 'content-type': type } : {};
  // JSON callers send bytes as base64.
  const body = typeof whole === 'string' ? Buffer.from(whole, 'base64') : whole;
  if (!isBytes(body)) throw new TypeError(`${raw.field} is neither bytes nor base64.`);
  return { headers, body, left: query };
}

function queryOf(operation: Operation, fields: Fields): string {
  const given = Object.entries(fields).filter(
    ([field, value]) => value !== undefined && isInQuery(operation, field),
  );
  if (given.length === 0) return '';
  const kinds = fieldKinds(operation);
  const query = new URLSearchParams();
  for (const [field, value] of given) {
    for (const one of Array.isArray(value) ? value : [value]) {
      query.append(field, toText(kinds.get(field), one));
    }
  }
  return `?${query.toString()}`;
}

function toText(kind: FieldKind | undefined, value: unknown): string {
  return kind === 'json' || typeof value !== 'string' ? stringifyExact(value) : value;
}
