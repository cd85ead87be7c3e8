import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { ServiceError } from '../lib/errors.ts';
import { newRequestId } from '../lib/ids.ts';
import { VERSION } from '../lib/version.ts';
import { SAFE_HEADERS } from './safe-headers.ts';

/** Answers with JSON and the headers that every API answer has. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    ...SAFE_HEADERS,
    ...headers,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Request-Id': newRequestId(),
    'X-Service-Version': VERSION,
  });
  response.end(JSON.stringify(body));
}

/** An answer with an API error as it goes over the wire, for a connection whose request may not have come yet. */
export function rawAnswer(error: ServiceError, status: number = error.status): string {
  const body = JSON.stringify(error.body());
  const headers = {
    ...SAFE_HEADERS,
    ...error.headers(),
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    'X-Request-Id': newRequestId(),
    'X-Service-Version': VERSION,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n');
}

/** Answers with an API error and closes the connection, without reading the rest of the request. */
export function answerError(
  response: ServerResponse,
  error: ServiceError,
  status: number = error.status,
): void {
  answerJson(response, status, error.body(), { ...error.headers(), Connection: 'close' });
}
