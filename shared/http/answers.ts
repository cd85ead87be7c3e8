import type { ServerResponse } from 'node:http';
import type { ServiceError } from '../lib/errors.ts';
import { newRequestId } from '../lib/ids.ts';
import { VERSION } from '../lib/version.ts';
import { SAFE_HEADERS } from './safe-headers.ts';

/** Answers JSON from the daemon itself, with the headers every answer of the interface carries. */
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

/** Answers an error of the interface and closes: what else the client sends is not read. */
export function answerError(
  response: ServerResponse,
  error: ServiceError,
  status: number = error.status,
): void {
  answerJson(response, status, error.body(), { ...error.headers(), Connection: 'close' });
}
