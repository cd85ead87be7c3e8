import type { ServerInfo } from '../../kernel/context.ts';
import { eventSchema } from '../../kernel/envelope.ts';
import type { Schemas } from './schemas.ts';
import { errorResponses, inPath, jsonResponse, ANYWHERE } from './responses.ts';

type Json = Record<string, unknown>;

/** The tags of what isn't an operation. */
export const OTHER_TAGS: Readonly<Record<string, string>> = {
  webhooks: 'Incoming webhooks, and deliveries to callbacks.',
};

type RouteOptions = Pick<ServerInfo, 'urls'>;

/** The paths that belong to no operation and that people call: for senders, and this document. */
export function routePaths({ urls }: RouteOptions): Record<string, Json> {
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

/**
 * The requests that the service itself sends, by name. OpenAPI Generator writes broken code for a webhook that stands in
 * `webhooks` itself, and nothing for one that is a reference, so they stand among the components.
 */
export const OUTGOING_WEBHOOKS = { event: { $ref: '#/components/pathItems/EventPush' } };

/** What `OUTGOING_WEBHOOKS` refers to. */
export function outgoingPathItems(schemas: Schemas): Json {
  return { EventPush: { post: outgoing(schemas) } };
}

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
  responses: {
    200: jsonResponse('The OpenAPI 3.1 description.', { type: 'object' }),
    304: { description: 'If-None-Match names the ETag of the answer: nothing has changed.' },
    ...errorResponses(['METHOD_NOT_ALLOWED', 'INTERNAL']),
  },
};
