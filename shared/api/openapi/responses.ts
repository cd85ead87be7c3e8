import { ERROR_CODES, errorEntry, type ErrorCode } from '../../lib/errors.ts';

type Json = Record<string, unknown>;

/** The headers of every answer. */
export const COMMON_HEADERS = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

/** A field of a call that was refused. */
const PROBLEM = {
  description: 'What is wrong with one field.',
  type: 'object',
  required: ['path', 'message'],
  properties: {
    path: { type: 'string', description: 'The field: `event_id`, `options[2]`, `upload.size`.' },
    message: {
      type: 'string',
      description: 'A sentence about the field, such as `Must be at least 30.`',
    },
  },
};

/** Which members there are depends on the code. */
const DETAILS = {
  description: 'What a program needs to go on. Which members there are depends on the code.',
  type: 'object',
  properties: {
    fields: {
      description: 'VALIDATION_FAILED: the fields to mend, at most 20.',
      type: 'array',
      items: { $ref: '#/components/schemas/FieldProblem' },
    },
    scope: { type: 'string', description: 'SCOPE_MISSING: the scope that the key lacks.' },
    retry_after: { type: 'number', description: 'Seconds to wait before a repeat.' },
    limit: { type: 'number', description: 'The limit that was reached.' },
    kind: { type: 'string', description: 'TOO_MANY_WAITS: whose limit it is.' },
    used: { type: 'number', description: 'How much of the limit is used.' },
    window: { type: 'string', description: 'SEND_LIMIT_REACHED: `day` or `month`.' },
    rule: { type: ['string', 'null'], description: 'POLICY_DENIED: the rule that denied it.' },
    path: { type: 'string', description: 'POLICY_INVALID: the bad field of the document.' },
    status: { type: 'string', description: 'EVENT_NOT_CLAIMABLE: how the event stands.' },
    reason: { type: 'string', description: 'LOGIN_EXPIRED: `denied` if a person refused it.' },
    approver: { type: 'string', description: 'CHANNEL_NOT_VERIFIED: the channel.' },
  },
};

/** The components that responses refer to. */
export const RESPONSE_COMPONENTS = {
  headers: {
    RequestId: {
      description: 'Quote it when you report a problem.',
      schema: { type: 'string' },
    },
  },
  schemas: {
    ApiError: errorSchema(),
    ErrorCode: {
      type: 'string',
      description: 'What went wrong: decide by this, never by the message.',
      enum: ERROR_CODES,
    },
    ErrorDetails: DETAILS,
    FieldProblem: PROBLEM,
  },
};

/** A JSON response. */
export function jsonResponse(
  description: string,
  schema: Json,
  headers: Json = {},
  example?: unknown,
): Json {
  return {
    description,
    headers: { ...COMMON_HEADERS, ...headers },
    content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
  };
}

/** The errors that any route may return. */
export const ANYWHERE: readonly ErrorCode[] = ['RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'];

/** Path parameters with these names. */
export function inPath(...names: readonly string[]): Json[] {
  return names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

/** One response per status, which names the error codes of that status. */
export function errorResponses(codes: readonly ErrorCode[]): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of ERROR_CODES.filter((one) => codes.includes(one))) {
    const { status } = errorEntry(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      status,
      jsonResponse(named.map((code) => `${code}: ${errorEntry(code).message}`).join(' '), {
        $ref: '#/components/schemas/ApiError',
      }),
    ]),
  );
}

function errorSchema(): Json {
  return {
    description: 'Why a call was refused.',
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        description: 'The refusal.',
        type: 'object',
        required: ['code', 'message', 'hint'],
        properties: {
          code: { $ref: '#/components/schemas/ErrorCode' },
          message: { type: 'string', description: 'What happened, in one sentence.' },
          hint: { type: ['string', 'null'], description: 'What to do next.' },
          details: { $ref: '#/components/schemas/ErrorDetails' },
        },
      },
    },
  };
}
