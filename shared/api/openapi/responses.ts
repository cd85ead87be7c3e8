import { ERROR_CODES, errorEntry, type ErrorCode } from '../../lib/errors.ts';

type Json = Record<string, unknown>;

/** The headers of every answer. */
export const COMMON_HEADERS = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

/** The components that responses refer to. */
export const RESPONSE_COMPONENTS = {
  headers: {
    RequestId: {
      description: 'Quote it when you report a problem.',
      schema: { type: 'string' },
    },
  },
  schemas: { ApiError: errorSchema(), ErrorCode: { type: 'string', enum: ERROR_CODES } },
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
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'hint'],
        properties: {
          code: { $ref: '#/components/schemas/ErrorCode' },
          message: { type: 'string' },
          hint: { type: ['string', 'null'] },
          details: {
            type: 'object',
            description:
              'Depends on the code: `fields` (path, message) of VALIDATION_FAILED, `scope`, `retry_after`, `limit` with `used`, and `of` for whose limit it is, …',
          },
        },
      },
    },
  };
}
