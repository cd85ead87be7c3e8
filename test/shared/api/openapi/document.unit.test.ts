import { describe, expect, it } from 'vitest';
import { httpApp } from '../../../../gateway/http/app.ts';
import { atOnce } from '../../../../cli/shapes/at-once.ts';
import { wholeDocument } from '../../../surface/doors/document.ts';
import { openApiDocument } from '../../../../shared/api/openapi/document.ts';
import { operations } from '../../../../shared/operations/index.ts';
import type { Operation } from '../../../../shared/kernel/operation.ts';
import { withoutRefs } from '../../../helpers/openapi-refs.ts';
import { rawOperations, UPLOAD_TYPE } from '../raw-fixture.ts';
import { fixtureOperations } from '../rest/fixture.ts';

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
  readonly paths: Record<string, Path>;
  readonly webhooks: Record<string, unknown>;
  readonly components: Record<'schemas' | 'pathItems', Record<string, Path>>;
}

const METHODS = ['get', 'head', 'options', 'post', 'put', 'delete'] as const;
type Method = (typeof METHODS)[number];
type Path = Partial<Record<Method, Described>> & {
  readonly servers?: readonly unknown[];
};

const server = {
  version: '1.2.3',
  urls: { api: 'https://api.test', mcp: 'https://mcp.test/mcp', hooks: 'https://hooks.test' },
  channels: [],
  telegramBot: null,
  mail: { domain: null, from: null },
};

/** With the other doors, unless it's to be the published one. */
function documentOf(list: readonly Operation[], isWhole = true): Document {
  const published: unknown = atOnce(openApiDocument(list, server));
  const document = (isWhole ? wholeDocument(published, { signsIn: false }) : published) as Document;
  return withoutRefs(document, document);
}

/** Each operation of the document, with its path. */
function describedIn(paths: Document['paths']): [string, Described][] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method): [string, Described][] => {
      const one = methods[method];
      return one ? [[path, one]] : [];
    }),
  );
}

/** What is no operation: in the order of the document. */
const DOORS = [
  'webhook_greet',
  'webhook_options',
  'webhook_receive',
  'openapi',
  'mcp',
  'mcp_read_only',
  'file_upload',
  'file_link',
  'file_link_head',
  'file_download',
  'file_download_head',
  'payload_download',
  'mail_html',
  'request_page',
  'request_decide',
  'channel_page',
  'channel_confirm',
  'replica_place',
  'replica_changes',
  'replica_info',
  'replica_export',
  'replica_sync',
  'ui_link_create',
  ...'llms readme skill security changelog docs decisions'.split(' ').map((id) => `guide_${id}`),
];

/** Doors that nobody goes through: here the addresses are of interest. Telegram's is between it and us alone. */
const inbox = { publicUrl: 'https://api.test' };
const DOORS_CLOSED = { server, inbox, telegram: null } as unknown as Parameters<typeof httpApp>[0];

function described(list: readonly Operation[], path: string, method: Method): Described {
  const found = documentOf(list).paths[path]?.[method];
  if (!found) throw new Error(`${method} ${path} is not in the document.`);
  return found;
}

describe('the OpenAPI document', () => {
  it('describes every operation, and the other doors', () => {
    const { paths, openapi, servers } = documentOf(operations);
    expect(openapi).toBe('3.1.0');
    expect(servers.map(({ url }) => url)).toEqual(['https://api.test']);
    const ids = describedIn(paths).flatMap(([, { operationId }]) => operationId.split('_or_'));
    expect(ids.toSorted()).toEqual([...operations.map(({ name }) => name), ...DOORS].toSorted());
  });

  it('is made one route at a time, so that others have turns between', () => {
    const routes = new Set(operations.map(({ rest }) => `${rest.method} ${rest.path}`));
    expect([...openApiDocument(operations, server)]).toHaveLength(routes.size);
  });

  it('leaves out what nobody calls by hand', () => {
    const { paths, tags } = documentOf(operations, false);
    const ids = describedIn(paths).flatMap(([, { operationId }]) => operationId.split('_or_'));
    const others = ids.filter((id) => !operations.some(({ name }) => name === id));
    expect(others.toSorted()).toEqual([
      'openapi',
      'webhook_greet',
      'webhook_options',
      'webhook_receive',
    ]);
    expect(tags.map(({ name }) => name)).not.toContain('replica');
  });

  it('has every path that is served, and no other', () => {
    const paths = httpApp(DOORS_CLOSED)
      .routes.map(({ path }) => path)
      // The client of libSQL would write there, and is refused. The web inbox, and the bare address, are for people.
      .filter((path) => path !== '/*' && !path.endsWith('/pipeline'))
      .filter((path) => !/^\/(?:ui)?$|^\/ui\//.test(path))
      // The address of a source, and that of MCP, may end with a slash.
      .map((path) => path.replaceAll(/:(\w+)(?:\{.*\})?/g, '{$1}'))
      .map((path) => (/^\/(?:w|mcp)\b/.test(path) ? path.replace(/\/$/, '') : path));
    expect([...new Set(paths)].toSorted()).toEqual(
      Object.keys(documentOf(operations).paths).toSorted(),
    );
  });

  it('says of the ingress at which address it is', () => {
    const elsewhere = Object.entries(documentOf(operations).paths).flatMap(([path, { servers }]) =>
      servers ? [[path, servers]] : [],
    );
    expect(elsewhere).toEqual([
      ['/w/{token}', [{ url: 'https://hooks.test', description: 'Webhook ingress' }]],
    ]);
  });

  it('names the parameters of every path', () => {
    const named = describedIn(documentOf(operations).paths).map(([path, { parameters = [] }]) => {
      const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      return path.replaceAll(/\{\w+\}/g, () => `{${inPath.shift() ?? 'nothing'}}`) + inPath.join();
    });
    expect([...new Set(named)]).toEqual(Object.keys(documentOf(operations).paths));
  });

  it('has nothing that OpenAPI Generator makes broken code of', () => {
    const { webhooks, ...plain } = documentOf(operations, false);
    const names = new Set(Object.keys(plain.components.schemas));
    // Go names the constructor of `Key` `NewKey`.
    expect([...names].filter((name) => names.has(`New${name}`))).toEqual([]);
    expect(JSON.stringify(plain)).not.toContain('"*/*"');
    expect(JSON.stringify(plain.components.schemas)).not.toMatch(/:\{"type":"null"/);
    expect(webhooks).toEqual({ event: { $ref: '#/components/pathItems/EventPush' } });
  });

  it('tells what is sent to callbacks, and that it is signed', () => {
    const sent = documentOf(operations).components.pathItems['EventPush']?.post;
    expect(sent?.parameters?.map(({ name }) => name)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'x-service-attempt',
    ]);
    expect(sent?.requestBody?.content['application/json']?.schema).toMatchObject({
      properties: { id: {}, type: {}, payload: {}, trust: {} },
    });
    expect(Object.keys(sent?.responses ?? {})).toEqual(['410', '2XX']);
  });

  it('describes two operations of one route as one, with either body', () => {
    const either = described(fixtureOperations, '/v1/asks', 'post');
    expect(either).toMatchObject({
      operationId: 'test_ask_or_test_question',
      summary: 'Test. Or: Test.',
      description:
        'A test. With `question` in the body, this is `test_question`. A test. Any valid key may call it.',
    });
    const body = either.requestBody?.content['application/json'];
    expect(body?.schema).toMatchObject({
      oneOf: [
        { required: ['action'], additionalProperties: false },
        { required: ['question'], additionalProperties: false },
      ],
    });
    expect(body).toMatchObject({
      examples: {
        test_ask: { value: { action: 'deploy' } },
        test_question: { value: { question: 'Where?' } },
      },
    });
    expect(either.responses['400']?.description).toContain('DETAILS_REQUIRED');
    expect(either.responses['409']?.description).toContain('CHANNEL_NOT_VERIFIED');
    expect(described(operations, '/v1/requests', 'post').operationId).toBe(
      'ask_approval_or_ask_human',
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
        description: 'What `POST /v1/items/{id}/make` takes.',
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

  it('asks for a key everywhere but at the ingress, at links and pages, and for itself', () => {
    const open = describedIn(documentOf(operations).paths)
      .filter(([, { security }]) => security?.length === 0)
      .map(([, { operationId }]) => operationId);
    expect(open).toEqual(
      DOORS.filter((name) => !/^(mcp|mcp_read_only|replica_.*|ui_link_create)$/.test(name)),
    );
  });

  it('has a sentence for each tag it uses', () => {
    const { tags, paths } = documentOf(operations, false);
    const used = describedIn(paths).flatMap(([, one]) => one.tags);
    expect(tags.map(({ name }) => name).toSorted()).toEqual([...new Set(used)].toSorted());
    expect(tags.filter(({ description }) => !/^[A-Z].*\.$/.test(description))).toEqual([]);
  });
});

function parametersOf({ parameters = [] }: Described): string[] {
  return parameters.map(({ name, in: place, required }) =>
    [place, name, ...(required ? ['required'] : [])].join(' '),
  );
}

const HEADERS = ['header If-Match', 'header If-None-Match', 'header Idempotency-Key'];

describe('a body that is one field', () => {
  it('is any JSON, and the other fields are in the query', () => {
    const put = described(rawOperations, '/v1/kv/{key}', 'put');
    expect(parametersOf(put)).toEqual([
      'path key required',
      'query ttl_seconds',
      'query if_version',
      'query if_exists',
      ...HEADERS,
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
      'query if_exists',
      ...HEADERS,
    ]);
    expect(put.requestBody?.content).toEqual({
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
      [UPLOAD_TYPE]: {
        schema: {
          description: 'What `PUT /v1/files/{path}` takes.',
          type: 'object',
          properties: {
            content_type: { type: 'string', maxLength: 100, description: 'Its media type.' },
            bytes_total: { type: 'integer', minimum: 0 },
            if_version: { type: 'integer', minimum: 0, description: 'The version to replace.' },
            if_exists: { type: 'boolean', description: 'Whether something must be there.' },
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
    const headers = ['X-Request-Id', 'X-Service-Position', 'Idempotent-Replayed'];
    expect(Object.keys(put.responses['200']?.headers ?? {})).toEqual(headers);
    expect(parametersOf(put)).toEqual(['path key required', 'header Idempotency-Key']);
  });
});
