import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../shared/bindings/openapi.ts';
import { operations } from '../../../shared/operations/index.ts';
import type { Operation } from '../../../shared/operation.ts';
import { rawOperations, UPLOAD_TYPE } from './raw-fixture.ts';
import { fixtureOperations } from './rest-fixture.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: unknown;
  readonly content?: unknown;
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    required: boolean;
    content: Record<string, { schema: unknown; example?: unknown }>;
  };
  readonly responses: Record<
    string,
    { description: string; headers: Record<string, unknown>; content?: Record<string, unknown> }
  >;
  readonly security?: readonly unknown[];
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Record<string, Record<string, Described>>;
}

const server = {
  version: '1.2.3',
  urls: { api: 'https://api.test', mcp: 'https://mcp.test', hooks: 'https://hooks.test' },
  channels: [],
};

function documentOf(list: readonly Operation[]): Document {
  return openApiDocument(list, server) as unknown as Document;
}

function described(list: readonly Operation[], path: string, method: string): Described {
  const found = documentOf(list).paths[path]?.[method];
  if (!found) throw new Error(`${method} ${path} is not in the document.`);
  return found;
}

describe('the OpenAPI document', () => {
  it('describes every route, the ingress and itself', () => {
    const { paths, openapi, servers } = documentOf(operations);
    expect(openapi).toBe('3.1.0');
    expect(servers.map(({ url }) => url)).toEqual(['https://api.test']);
    const ids = Object.values(paths).flatMap((methods) =>
      Object.values(methods)
        .map(({ operationId }) => operationId)
        .filter((id) => id !== undefined),
    );
    expect(ids.toSorted()).toEqual(
      [...operations.map(({ name }) => name), 'webhook_receive', 'openapi'].toSorted(),
    );
  });

  it('keeps methods of one path together, and writes the rest of a path as one parameter', () => {
    const { paths } = documentOf(fixtureOperations);
    expect(Object.keys(paths['/v1/values/{key}'] ?? {})).toEqual(['get', 'put']);
    expect(Object.keys(paths)).not.toContain('/v1/values/{key+}');
  });

  it('puts the fields of a read into the path and the query', () => {
    const { parameters, requestBody } = described(fixtureOperations, '/v1/values/{key}', 'get');
    expect(requestBody).toBeUndefined();
    expect(parameters?.map(({ name, in: place, required }) => [name, place, required])).toEqual([
      ['key', 'path', true],
      ['limit', 'query', false],
      ['flag', 'query', false],
      ['tags', 'query', false],
    ]);
    expect(parameters?.[1]?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 9 });
  });

  it('puts the fields of a write into the path and the body, and offers an Idempotency-Key', () => {
    const make = described(fixtureOperations, '/v1/items/{id}/make', 'post');
    expect(make.parameters?.map(({ name, in: place }) => [name, place])).toEqual([
      ['id', 'path'],
      ['Idempotency-Key', 'header'],
    ]);
    expect(make.requestBody?.content['application/json']).toEqual({
      schema: {
        type: 'object',
        properties: { name: { type: 'string' }, count: { type: 'integer' } },
        additionalProperties: false,
      },
      example: {},
    });
    expect(Object.keys(make.responses)).toContain('201');
    expect(Object.keys(make.responses)).not.toContain('200');
  });

  it('names the codes of each status', () => {
    const ack = described(operations, '/v1/inbox/ack', 'post');
    expect(Object.keys(ack.responses)).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '404', '409', '413', '415', '429']),
    );
    expect(ack.responses['401']?.description).toBe(
      'UNAUTHENTICATED: Missing or invalid API key. KEY_REVOKED: This API key has been revoked.',
    );
    expect(ack.responses['409']?.description).toMatch(
      /^EVENT_NOT_CLAIMABLE: .* EVENT_ROUTED: .* LEASE_NOT_HELD: .* LEASE_EXPIRED: .* IDEMPOTENCY_IN_PROGRESS: /,
    );
    const list = described(operations, '/v1/inbox', 'get');
    expect(Object.keys(list.responses)).toEqual(['200', '400', '401', '403', '429', '500', '503']);
  });

  it('says which scope a call needs', () => {
    expect(described(operations, '/v1/inbox/ack', 'post').description).toMatch(
      / Needs the scope `inbox:write`\.$/,
    );
    expect(described(operations, '/v1/whoami', 'get').description).toMatch(
      / Any valid key may call it\.$/,
    );
  });

  it('asks for a key everywhere but at the ingress and for itself', () => {
    const open = Object.entries(documentOf(operations).paths).flatMap(([path, methods]) =>
      Object.values(methods)
        .filter(({ security }) => security?.length === 0)
        .map(() => path),
    );
    expect(open).toEqual(['/w/{token}', '/v1/openapi.json']);
  });

  it('has a sentence for each tag it uses', () => {
    const { tags, paths } = documentOf(operations);
    const used = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap((one) => one.tags ?? []),
    );
    expect(tags.map(({ name }) => name).toSorted()).toEqual([...new Set(used)].toSorted());
    expect(tags.filter(({ description }) => !/^[A-Z].*\.$/.test(description))).toEqual([]);
  });

  it('refers to nothing that is not in it', () => {
    const all = [...operations, ...fixtureOperations, ...rawOperations];
    const text = JSON.stringify(documentOf(all));
    const targets = new Set(
      [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((found) => found[1] ?? ''),
    );
    expect([...targets].toSorted()).toEqual([
      '#/components/headers/RequestId',
      '#/components/schemas/Error',
    ]);
  });
});

function parametersOf({ parameters = [] }: Described): string[] {
  return parameters.map(({ name, in: place, required }) =>
    [place, name, ...(required ? ['required'] : [])].join(' '),
  );
}

describe('a body that is one field', () => {
  it('is any JSON, and the other fields are in the query', () => {
    const put = described(rawOperations, '/v1/kv/{key}', 'put');
    expect(parametersOf(put)).toEqual([
      'path key required',
      'query ttl_seconds',
      'query if_version',
      'header If-Match',
      'header If-None-Match',
      'header Idempotency-Key',
    ]);
    expect(put.requestBody).toMatchObject({
      required: true,
      content: {
        'application/json': { schema: { description: 'Any JSON.' }, example: { n: 1 } },
      },
    });
    expect(Object.keys(put.requestBody?.content ?? {})).toHaveLength(1);
    expect(Object.keys(put.responses)).toEqual(
      expect.arrayContaining(['400', '412', '413', '415']),
    );
  });

  it('is bytes, or an object of the fields beside them', () => {
    const put = described(rawOperations, '/v1/files/{path}', 'put');
    expect(parametersOf(put)).toEqual([
      'path path required',
      'query bytes_total',
      'query if_version',
      'header If-Match',
      'header If-None-Match',
      'header Idempotency-Key',
    ]);
    expect(put.requestBody?.content).toEqual({
      'application/octet-stream': {
        schema: { type: 'string', format: 'binary' },
      },
      [UPLOAD_TYPE]: {
        schema: {
          type: 'object',
          properties: {
            content_type: { type: 'string', maxLength: 100, description: 'Its media type.' },
            bytes_total: { type: 'integer', minimum: 0 },
            if_version: { type: 'integer', minimum: 0, description: 'The version to replace.' },
          },
          additionalProperties: false,
        },
      },
    });
  });

  it('leaves objects to the query as JSON', () => {
    const put = described(rawOperations, '/v1/notes/{id}', 'put');
    expect(put.parameters?.find(({ name }) => name === 'shape')).toMatchObject({
      in: 'query',
      content: { 'application/json': { schema: { type: 'object' }, example: { n: 1 } } },
    });
    expect(Object.keys(put.requestBody?.content ?? {})).toEqual(['application/octet-stream']);
  });
});

describe('versions', () => {
  it('are told as ETags, and a read may be conditional', () => {
    const get = described(rawOperations, '/v1/kv/{key}', 'get');
    expect(parametersOf(get)).toEqual(['path key required', 'header If-None-Match']);
    expect(Object.keys(get.responses['200']?.headers ?? {})).toEqual(['X-Request-Id', 'ETag']);
    expect(Object.keys(get.responses['304']?.headers ?? {})).toEqual(['X-Request-Id', 'ETag']);
    expect(get.responses['304']?.content).toBeUndefined();
    expect(get.responses['200']?.content).toMatchObject({
      'application/json': { schema: { anyOf: [{ type: 'object' }, { type: 'null' }] } },
    });
  });

  it('are asked for by a write that takes one, whatever its body is', () => {
    const state = described(rawOperations, '/v1/state/{task}', 'put');
    expect(parametersOf(state)).toContain('header If-Match');
    expect(state.responses['200']?.headers).toHaveProperty('ETag');
    expect(state.responses).not.toHaveProperty('304');
    expect(state.requestBody?.content).toHaveProperty('application/json');
    const note = described(rawOperations, '/v1/notes/{id}', 'put');
    expect(note.responses['200']?.headers).toHaveProperty('ETag');
    expect(parametersOf(note)).not.toContain('header If-Match');
  });

  it('are no matter of other operations', () => {
    const put = described(fixtureOperations, '/v1/values/{key}', 'put');
    expect(Object.keys(put.responses['200']?.headers ?? {})).toEqual(['X-Request-Id']);
    expect(parametersOf(put)).toEqual(['path key required', 'header Idempotency-Key']);
  });
});
