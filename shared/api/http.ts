import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { asServiceError, invalid, ServiceError } from '../lib/errors.ts';
import type { Credentials } from '../kernel/executor.ts';
import { SAFE_HEADERS } from '../http/safe-headers.ts';
import { newRequestId } from '../lib/ids.ts';
import { VERSION } from '../lib/version.ts';

/** What the hosted process knows of a request, and learns of it for its log and metrics. */
export interface RequestInfo {
  /** Seen through the proxies that are trusted. */
  readonly clientAddress: string;
  requestId: string | null;
  /** What became of a delivery. */
  delivery: 'accepted' | 'duplicate' | null;
}

/** What every handler finds on a request: the Node request and response, and an id. */
export interface HttpEnv {
  Bindings: HttpBindings & { readonly visit?: RequestInfo };
  Variables: { requestId: string };
}

/** For the log only: an error the caller was not shown. */
export type OnInternalError = (error: unknown, requestId: string) => void;

/** Gives each request an id. */
export const identify: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const requestId = newRequestId();
  c.set('requestId', requestId);
  if (c.env.visit) c.env.visit.requestId = requestId;
  await next();
};

/** The headers of an answer, with the id of its request, the release that answers, and what keeps browsers from using it. */
export function commonHeaders(
  c: Context<HttpEnv>,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    'X-Request-Id': c.get('requestId'),
    'X-Service-Version': VERSION,
    ...SAFE_HEADERS,
    ...headers,
  };
}

/** An answer with the headers of all answers. Plain ones: building others takes longer. */
export function reply(
  c: Context<HttpEnv>,
  body: string | Uint8Array | ReadableStream | null,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  return new Response(body as ConstructorParameters<typeof Response>[0], {
    status,
    headers: commonHeaders(c, headers),
  });
}

/** What a caller may see of an error; what it may not see is noted. */
export function shownError(
  error: unknown,
  requestId: string,
  onInternal: OnInternalError,
): ServiceError {
  const shown = asServiceError(error);
  // What is refused for a moment as a matter of course has no cause.
  const isFailure = shown.code === 'UNAVAILABLE' && shown.cause !== undefined;
  if (shown.code === 'INTERNAL' || isFailure) {
    onInternal(shown.cause ?? error, requestId);
  }
  return shown;
}

/** The log for what a call throws: nobody's once its client has left, when nothing it throws is of interest. */
export function logOf(c: Context<HttpEnv>, onInternal: OnInternalError): OnInternalError {
  return c.env.outgoing.destroyed ? () => undefined : onInternal;
}

/** The error body of the interface, with its status and headers. */
export function errorResponse(
  error: unknown,
  c: Context<HttpEnv>,
  onInternal: OnInternalError,
): Response {
  const shown = shownError(error, c.get('requestId'), logOf(c, onInternal));
  return reply(c, JSON.stringify(shown.body()), shown.status, {
    'Content-Type': 'application/json',
    ...shown.headers(),
  });
}

/** For the listener's `errorHandler`: an answer to what fails before there is a route to it. */
export function unroutable(error: unknown): Response {
  const isRequest = error instanceof Error && error.name === 'RequestError';
  const shown = isRequest
    ? invalid({ path: 'url', message: 'The request target and the Host header make no valid URL.' })
    : asServiceError(error);
  return new Response(JSON.stringify(shown.body()), {
    status: shown.status,
    headers: {
      'Content-Type': 'application/json',
      'X-Request-Id': newRequestId(),
      'X-Service-Version': VERSION,
      ...SAFE_HEADERS,
    },
  });
}

/** METHOD_NOT_ALLOWED naming the methods there are. */
export function methodNotAllowed(allowed: readonly string[]): ServiceError {
  return new ServiceError('METHOD_NOT_ALLOWED', {
    hint: `Allowed: ${allowed.join(', ')}.`,
    headers: { Allow: allowed.join(', ') },
  });
}

/** What a request says of its sender. */
export function credentialsOf(c: Context<HttpEnv>): Credentials {
  return {
    authorization: c.req.header('authorization'),
    agentHeader: c.req.header('x-service-agent'),
    userAgent: c.req.header('user-agent'),
    clientName: c.req.header('x-service-client'),
    requestId: c.get('requestId'),
    idempotencyKey: c.req.header('idempotency-key'),
  };
}
