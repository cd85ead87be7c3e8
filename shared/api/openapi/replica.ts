import type { ErrorCode } from '../../lib/errors.ts';
import { COMMON_HEADERS, errorResponses, inPath, jsonResponse } from './responses.ts';

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

const SCOPES = 'Needs the scopes `inbox:read`, `approvals`, `disk` and `ledger:read`.';
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
  summary: 'Where the project stands, for whoever keeps a copy of it.',
  description:
    'The log of the project is kept for a day after it was last followed. `epoch` names its history: with another one ' +
    'the project has to be copied anew. Where the gateway keeps its databases on a server that has no replicas to offer, ' +
    `all of this is NOT_FOUND with \`details.reason: "no_replica"\`. ${SCOPES}`,
  responses: {
    200: jsonResponse(
      'The place in the log, and what a copy does not tell.',
      record({
        epoch: TEXT,
        generation: COUNT,
        position: { type: 'integer', description: 'As in X-Service-Position.' },
        schema_version: { type: 'integer', description: 'Of the tables.' },
        time: TIME,
        project: record({ id: TEXT, slug: TEXT, name: TEXT }),
        server: record({
          version: TEXT,
          urls: record({ api: TEXT, mcp: TEXT, hooks: TEXT }),
          channels: { type: 'array', items: TEXT },
          telegram_bot: { type: ['string', 'null'] },
        }),
      }),
    ),
    ...errorResponses(ANY),
  },
};

const CHANGES = {
  operationId: 'replica_changes',
  tags: ['replica'],
  summary: 'Hear of every commit.',
  description:
    'Server-sent events, each with JSON as data. `place` {epoch, generation, position, time} comes first, and when the ' +
    'epoch changes; `change` {position, time, changes, all} after commits, where `changes` names what somebody may ' +
    'wait for, {kind: "event", source, type}, {kind: "request", id}, {kind: "disk"} or {kind: "inbox"}, and ' +
    '`all: true` stands for more than 50 of them; ' +
    '`time` {time, position} every 15 seconds; `end` {code} before the stream is closed, because the key ends or the ' +
    'server does. A client that does not read is cut off. At most 1,000 streams a project. ' +
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
  summary: 'The generation of the log that is being written.',
  description:
    "With the two below it is libSQL's sync protocol: give a libSQL client `/v1/replica/{epoch}` as its `syncUrl` and " +
    `the key as its token. Copies are read only. ${SCOPES}`,
  parameters: inPath('epoch'),
  responses: {
    200: jsonResponse('The generation.', record({ current_generation: COUNT })),
    ...errorResponses(ANY),
  },
};

const EXPORT = {
  operationId: 'replica_export',
  tags: ['replica'],
  summary: 'The database file as it stood when a generation began.',
  description: `The generation that \`info\` names. ${SCOPES}`,
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
    'Those from `from` on, and before `to`, of what is committed: at least one and at most 256, each of 24 + 4096 ' +
    `bytes. Frames of a generation count from 1. ${SCOPES}`,
  parameters: inPath('epoch', 'generation', 'from', 'to'),
  responses: {
    200: {
      description: 'Frames, one after another.',
      headers: COMMON_HEADERS,
      content: { 'application/octet-stream': { schema: BYTES } },
    },
    400: jsonResponse(
      'There are no more in this generation. Where `generation` is a later one, go on with frame 1 of the next.',
      record({ generation: COUNT }),
    ),
    ...errorResponses(ANY),
  },
};
