import type { ErrorCode } from '../../../shared/lib/errors.ts';
import {
  COMMON_HEADERS,
  errorResponses,
  inPath,
  jsonResponse,
} from '../../../shared/api/openapi/responses.ts';

type Json = Record<string, unknown>;

/** The routes that daemons use to keep a replica of a project. */
export function replicaPaths(): Record<string, Json> {
  return {
    '/v1/replica': { get: PLACE },
    '/v1/replica/changes': { get: CHANGES },
    '/v1/replica/{epoch}/info': { get: INFO },
    '/v1/replica/{epoch}/export/{generation}': { get: EXPORT },
    '/v1/replica/{epoch}/sync/{generation}/{from}/{to}': { get: SYNC },
  };
}

/**
 * None of these routes has a rate limit, and every failure is UNAVAILABLE, because a client of the replica protocol
 * gives a 500 another meaning.
 */
const ANY: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'KEY_REVOKED',
  'SCOPE_MISSING',
  'METHOD_NOT_ALLOWED',
  'UNAVAILABLE',
  'NOT_FOUND',
];

const SCOPES =
  'Needs the scopes `inbox:read`, `approvals`, `disk` or `disk:read`, and `ledger:read`.';
const COUNT = { type: 'integer', minimum: 1 };
const TIME = { type: 'string', format: 'date-time' };
const TEXT = { type: 'string' };
const BYTES = { type: 'string', format: 'binary' };

function record(properties: Json): Json {
  return { type: 'object', required: Object.keys(properties), properties };
}

const PLACE = {
  operationId: 'replica_place',
  tags: ['replica'],
  summary: 'The current position of the project, for a replica.',
  description:
    'The gateway keeps the log for a day after a replica last followed it. `epoch` identifies the history: if it changes, ' +
    `copy the project again. ${SCOPES}`,
  responses: {
    200: jsonResponse(
      "The position in the log, and facts that aren't in the database.",
      record({
        epoch: TEXT,
        generation: COUNT,
        position: { type: 'integer', description: 'As in X-Service-Position.' },
        schema_version: { type: 'integer', description: 'The version of the tables.' },
        time: TIME,
        project: record({ id: TEXT, slug: TEXT, name: TEXT }),
        server: record({
          version: TEXT,
          urls: record({ api: TEXT, mcp: TEXT, hooks: TEXT }),
          channels: { type: 'array', items: TEXT },
          telegram_bot: { type: ['string', 'null'] },
          keeps_mail: {
            type: 'boolean',
            description: 'No mail server is set, so mail stays on the server.',
          },
        }),
      }),
    ),
    ...errorResponses(ANY),
  },
};

const CHANGES = {
  operationId: 'replica_changes',
  tags: ['replica'],
  summary: 'Stream every commit.',
  description:
    'Server-sent events, each with JSON as data. `place` {epoch, generation, position, time} comes first, and when the ' +
    'epoch changes; `change` {position, time, changes, all} follows commits; `changes` lists what somebody may ' +
    'be waiting for, {kind: "event", source, type}, {kind: "request", id}, {kind: "disk"} or {kind: "inbox"}, and ' +
    '`all: true` means more than 50 changes; ' +
    '`time` {time, position} every 15 seconds; `end` {code} before the stream closes, because the key or the ' +
    'server has ended. A client that stops reading is cut off. At most 1,000 streams per project. ' +
    SCOPES,
  responses: {
    200: {
      description: 'The events.',
      headers: COMMON_HEADERS,
      content: { 'text/event-stream': { schema: TEXT } },
    },
    ...errorResponses([...ANY, 'TOO_MANY_WAITS']),
  },
};

const INFO = {
  operationId: 'replica_info',
  tags: ['replica'],
  summary: 'The current generation of the log.',
  description:
    "This route and the two below speak libSQL's sync protocol: give a libSQL client `/v1/replica/{epoch}` as its `syncUrl` and " +
    `the key as its token. Replicas are read-only. ${SCOPES}`,
  parameters: inPath('epoch'),
  responses: {
    200: jsonResponse('The generation.', record({ current_generation: COUNT })),
    ...errorResponses(ANY),
  },
};

const EXPORT = {
  operationId: 'replica_export',
  tags: ['replica'],
  summary: 'The database file as of the start of a generation.',
  description: `Use the generation from \`info\`. ${SCOPES}`,
  parameters: inPath('epoch', 'generation'),
  responses: {
    200: {
      description: 'A SQLite database.',
      headers: COMMON_HEADERS,
      content: { 'application/vnd.sqlite3': { schema: BYTES } },
    },
    ...errorResponses(ANY),
  },
};

const SYNC = {
  operationId: 'replica_sync',
  tags: ['replica'],
  summary: 'Frames of the log.',
  description:
    'The committed frames from `from` up to, but not including, `to`: 1 to 256 frames of 24 + 4096 ' +
    `bytes each. Frames of a generation are numbered from 1. ${SCOPES}`,
  parameters: inPath('epoch', 'generation', 'from', 'to'),
  responses: {
    200: {
      description: 'The frames in order.',
      headers: COMMON_HEADERS,
      content: { 'application/octet-stream': { schema: BYTES } },
    },
    400: jsonResponse(
      'This generation has no more frames. If `generation` is a later one, continue with frame 1 of the next.',
      record({ generation: COUNT }),
    ),
    ...errorResponses(ANY),
  },
};
