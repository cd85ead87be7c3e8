import { COMMON_HEADERS, jsonResponse } from '../../../shared/api/openapi/responses.ts';

/** The tools, at the address of a server. */
export function mcpPaths(): Record<string, Record<string, unknown>> {
  return { '/mcp': { post: MCP }, '/mcp/readonly': { post: MCP_READ_ONLY } };
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
