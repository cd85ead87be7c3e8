import type { ServerInfo } from '../../kernel/context.ts';
import { eventSchema } from '../../kernel/envelope.ts';
import type { Schemas } from './schemas.ts';
import { guidePaths } from './guide.ts';
import { linkPaths } from './links.ts';
import { oauthPaths } from './oauth.ts';
import { pagePaths } from './pages.ts';
import { replicaPaths } from './replica.ts';
import { uiPaths } from './ui.ts';
import { COMMON_HEADERS, errorResponses, inPath, jsonResponse, ANYWHERE } from './responses.ts';

type Json = Record<string, unknown>;

/** The tags of what isn't an operation. */
export const OTHER_TAGS: Readonly<Record<string, string>> = {
  mcp: 'The same operations as tools.',
  webhooks: 'Incoming webhooks, and deliveries to callbacks.',
  links: 'Addresses that answers carry: who has one needs no key.',
  pages: 'What people see who are asked to decide.',
  ui: 'The web inbox of owners, at `/ui`.',
  replica: 'How a daemon keeps a copy of the project.',
  guide: 'How to use the service, in Markdown.',
};

type Described = Pick<ServerInfo, 'urls' | 'contentUrl'>;

/** The paths that belong to no operation and that people call: for senders, and this document. */
export function routePaths({ urls }: Described): Record<string, Json> {
  return {
    '/w/{token}': {
      servers: [{ url: urls.hooks, description: 'Webhook ingress' }],
      get: greeting('webhook_greet', 'Ask whether the address is there.'),
      options: greeting('webhook_options', 'Ask whether the address takes deliveries.'),
      post: INGRESS,
    },
    '/v1/openapi.json': { get: DOCUMENT },
  };
}

/** The paths that only programs of this service, browsers, MCP clients and followers of a link call. */
export function internalPaths(server: Described, oauth: boolean): Record<string, Json> {
  const mcpServers = [{ url: baseOf(server.urls.mcp), description: 'MCP' }];
  return {
    '/mcp': { servers: mcpServers, post: MCP },
    '/mcp/readonly': { servers: mcpServers, post: MCP_READ_ONLY },
    ...linkPaths(server.contentUrl),
    ...pagePaths(),
    ...uiPaths(),
    ...replicaPaths(),
    ...guidePaths(),
    ...(oauth && oauthPaths()),
  };
}

/**
 * The requests that the service itself sends, by name. OpenAPI Generator writes broken code for a webhook that stands in
 * `webhooks` itself, and nothing for one that is a reference, so they stand among the components.
 */
export const OUTGOING_WEBHOOKS = { event: { $ref: '#/components/pathItems/EventPush' } };

/** What `OUTGOING_WEBHOOKS` refers to. */
export function outgoingPathItems(schemas: Schemas): Json {
  return { EventPush: { post: outgoing(schemas) } };
}

/** The URL before `/mcp`. */
function baseOf(mcpUrl: string): string {
  return mcpUrl.replace(/\/mcp$/, '');
}

const RPC_ERROR = {
  type: 'object',
  required: ['jsonrpc', 'error'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer', 'null'] },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'integer' },
        message: {
          type: 'string',
          description: '`CODE: message hint`, for codes of this service.',
        },
        data: { type: 'object' },
      },
    },
  },
};

const MCP = {
  operationId: 'mcp',
  tags: ['mcp'],
  summary: 'Tools, resources and prompts over the Model Context Protocol.',
  description:
    'Streamable HTTP, in the revisions 2026-07-28 (`server/discover`), 2025-11-25, 2025-06-18 and ' +
    '2025-03-26 (`initialize`): one JSON-RPC message a request, of at most 2 MB. `tools/list` shows the tools that the ' +
    'scopes of the key allow, `resources/list` the files (`disk://`), values (`kv://`) and pending events (`inbox://`). ' +
    'A call that waits longer than 10 seconds is answered as an event stream, when the client accepts one; so is ' +
    '`subscriptions/listen`, which tells what changes until the client leaves. Refusals of a tool are results with ' +
    '`isError`; errors below carry a JSON-RPC error.',
  parameters: [
    {
      name: 'tools',
      in: 'query',
      required: false,
      description:
        'Only these tools or toolsets, separated by commas: `inbox`, `ask`, `disk`, `source`, `policy`, `email`, `ledger`, `session`.',
      schema: { type: 'string' },
      example: 'inbox,ask',
    },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { type: 'object' },
        example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      },
    },
  },
  responses: {
    200: {
      description: 'The result, or the error of a message that could be read.',
      headers: {
        ...COMMON_HEADERS,
        'Mcp-Session-Id': {
          required: false,
          description:
            'With the answer to `initialize`. The server keeps no sessions: a client that repeats it can cancel its calls.',
          schema: { type: 'string' },
        },
      },
      content: {
        'application/json': { schema: { type: 'object' } },
        'text/event-stream': { schema: { type: 'string' } },
      },
    },
    202: { description: 'A notification: nothing to answer.', headers: COMMON_HEADERS },
    ...Object.fromEntries(
      [
        [400, "The message isn't a JSON-RPC request of a known revision."],
        [401, 'UNAUTHENTICATED or KEY_REVOKED.'],
        [403, 'The Origin is not allowed.'],
        [404, 'Unknown method.'],
        [405, 'METHOD_NOT_ALLOWED.'],
        [413, 'PAYLOAD_TOO_LARGE.'],
        [415, 'UNSUPPORTED_MEDIA_TYPE.'],
        [429, 'RATE_LIMITED.'],
        [500, 'INTERNAL.'],
        [503, 'UNAVAILABLE.'],
      ].map(([status, description]) => [status, jsonResponse(String(description), RPC_ERROR)]),
    ),
  },
};

const MCP_READ_ONLY = {
  ...MCP,
  operationId: 'mcp_read_only',
  summary: 'MCP with only the tools that change nothing.',
};

/** What some senders ask before they save an address. */
function greeting(operationId: string, summary: string): Json {
  return {
    operationId,
    tags: ['webhooks'],
    summary,
    description:
      'An empty 200 as long as the source is there. A sender that sends its own challenge along hears what it wants to hear.',
    security: [],
    parameters: inPath('token'),
    responses: {
      200: { description: 'The source is there.' },
      ...errorResponses(['NOT_FOUND', 'METHOD_NOT_ALLOWED', ...ANYWHERE]),
    },
  };
}

const INGRESS = {
  operationId: 'webhook_receive',
  tags: ['webhooks'],
  summary: 'Deliver a webhook.',
  description:
    'Where the sender of a source posts to; the token is the capability and no key is needed. The raw body is ' +
    'checked against the signature of the source. Some senders get the answer that they expect instead of this one, with the ' +
    'status and the event in the headers Svc-Delivery and Svc-Event-Id. Identical deliveries create one event. The address ' +
    'of an email source takes whole mails (RFC 5322), for mail servers that can post what they receive.',
  security: [],
  parameters: inPath('token'),
  requestBody: {
    required: true,
    description: 'Any body of at most 5 MB, a mail of at most 25 MB, not compressed.',
    content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  },
  responses: {
    200: jsonResponse('Accepted and durable, or a duplicate of the event named.', {
      type: 'object',
      required: ['status', 'event_id'],
      properties: {
        status: { type: 'string', enum: ['accepted', 'duplicate'] },
        event_id: {
          type: ['string', 'null'],
          description:
            'Null for a report about a mail that was sent: it makes no event of its own.',
        },
      },
    }),
    ...errorResponses([
      'NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'INGRESS_SIGNATURE_INVALID',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      ...ANYWHERE,
    ]),
  },
};

function outgoing(schemas: Schemas): Json {
  return {
    operationId: 'event_push',
    tags: ['webhooks'],
    summary: 'An event, as it is sent to a callback_url.',
    description:
      'Sent for each event that a route matches, and as `request.resolved` for a request with a callback_url; signed as ' +
      'Standard Webhooks with the secret of the route or of the project. Any 2xx within 15 seconds is a delivery; 410 ' +
      'closes the route; anything else is tried again after 1 min, 5 min, 30 min, 2 h and 12 h. Redirects are not ' +
      'followed. What an event carries was written by outsiders, unless its trust is `service`.',
    security: [],
    parameters: [
      sentHeader('webhook-id', 'The id of the event, the same at every attempt.'),
      sentHeader('webhook-timestamp', 'The time of the attempt, in seconds.'),
      sentHeader(
        'webhook-signature',
        '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; two of them for a while after a rotation.',
      ),
      sentHeader('x-service-attempt', 'Which attempt this is, from 1.'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.of(eventSchema, 'output') } },
    },
    responses: {
      '2XX': { description: 'Delivered.' },
      410: { description: 'Send no more of this: the route is disabled.' },
    },
  };
}

function sentHeader(name: string, description: string): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string' } };
}

const DOCUMENT = {
  operationId: 'openapi',
  tags: ['whoami'],
  summary: 'This document.',
  description: 'The OpenAPI 3.1 description of everything that a client calls.',
  security: [],
  parameters: [
    {
      name: 'internal',
      in: 'query',
      required: false,
      description: 'True also describes MCP, pages, links and what a replica uses.',
      schema: { type: 'boolean', default: false },
    },
  ],
  responses: {
    200: jsonResponse('The OpenAPI 3.1 description.', { type: 'object' }),
    304: { description: 'If-None-Match names the ETag of the answer: nothing has changed.' },
    ...errorResponses(['METHOD_NOT_ALLOWED', 'INTERNAL']),
  },
};
