import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { Admission } from '../admission/admission.ts';
import { AdmittedRequest } from '../admission/admitted-request.ts';
import { asServiceError, invalid, ServiceError } from '../lib/errors.ts';
import type { Credentials } from '../kernel/executor.ts';
import { SAFE_HEADERS } from '../http/safe-headers.ts';
import { newRequestId } from '../lib/ids.ts';
import { VERSION } from '../lib/version.ts';

/** The facts about a request that the gateway's process collects for its log and metrics. */
export interface RequestInfo {
  /** The client's address, read through trusted proxies. */
  readonly clientAddress: string;
  /** Whom the request counts for. */
  readonly admitted: AdmittedRequest;
  requestId: string | null;
  /** The result of a webhook delivery. */
  delivery: 'accepted' | 'duplicate' | null;
}

/** The Node request and response and a request id, for every handler. */
export interface HttpEnv {
  Bindings: HttpBindings & { readonly visit?: RequestInfo };
  Variables: { requestId: string };
}

/** A request as the listener hands it over. */
export type Arrival = Pick<HttpEnv['Bindings'], 'incoming' | 'visit'>;

const LOCAL = Admission.local();

/** A property of the request itself, because a WeakMap of all requests would cost the garbage collector more. */
const VISIT = Symbol('visit');

interface VisitCarrier {
  [VISIT]?: RequestInfo;
}

/** Keeps what the listener knows of a request. */
export function setVisit(request: IncomingMessage, visit: RequestInfo): void {
  (request as VisitCarrier)[VISIT] = visit;
}

export function visitOf(request: IncomingMessage): RequestInfo | undefined {
  return (request as VisitCarrier)[VISIT];
}

const localRequests = new WeakMap<IncomingMessage, AdmittedRequest>();

/** Whom a request counts for, the same for each call; without a listener of ours nobody has less than another. */
export function admittedOf({ incoming, visit }: Arrival): AdmittedRequest {
  if (visit) return visit.admitted;
  const known = localRequests.get(incoming) ?? new AdmittedRequest(LOCAL);
  localRequests.set(incoming, known);
  return known;
}

/** Logs an error whose details the caller didn't see. */
export type OnInternalError = (error: unknown, requestId: string) => void;

/** Gives each request an id. */
export const identify: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const requestId = newRequestId();
  c.set('requestId', requestId);
  if (c.env.visit) {
    c.env.visit.requestId = requestId;
    c.env.visit.admitted.id = requestId;
  }
  await next();
};

/** The headers of every answer: the request id, our version, and headers that keep browsers from using the content. */
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

/** Makes an answer with the common headers. They are plain objects, because building others takes longer. */
export function reply(
  c: Context<HttpEnv>,
  body: string | Uint8Array | ReadableStream | null,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  // A stream may last long, and has limits of its own.
  if (body instanceof ReadableStream) c.env.visit?.admitted.stepAside();
  return new Response(body as ConstructorParameters<typeof Response>[0], {
    status,
    headers: commonHeaders(c, headers),
  });
}

/** The error as the caller may see it; logs what the caller may not see. */
export function shownError(
  error: unknown,
  requestId: string,
  onInternal: OnInternalError,
): ServiceError {
  const shown = asServiceError(error);
  // Routine temporary refusals have no cause, so don't log them.
  const isFailure = shown.code === 'UNAVAILABLE' && shown.cause !== undefined;
  if (shown.code === 'INTERNAL' || isFailure) {
    onInternal(shown.cause ?? error, requestId);
  }
  return shown;
}

/** The log for errors of a call. Logs nothing if the client has left, because its errors don't matter then. */
export function logOf(c: Context<HttpEnv>, onInternal: OnInternalError): OnInternalError {
  return c.env.outgoing.destroyed ? () => undefined : onInternal;
}

/** The error body of the API, with its status and headers. `hintOf` words the hint for these callers. */
export function errorResponse(
  error: unknown,
  c: Context<HttpEnv>,
  onInternal: OnInternalError,
  hintOf: (shown: ServiceError) => string | null = ({ hint }) => hint,
): Response {
  const shown = shownError(error, c.get('requestId'), logOf(c, onInternal));
  const { error: told } = shown.body();
  const body = JSON.stringify({ error: { ...told, hint: hintOf(shown) } });
  return reply(c, body, shown.status, {
    'Content-Type': 'application/json',
    ...shown.headers(),
  });
}

/**
 * Ends an answer that has begun and can't be finished. Over HTTP/1.0 a closed connection is a complete answer, so it's
 * reset.
 */
export function breakOff(c: Context<HttpEnv>, error: unknown, onInternal: OnInternalError): void {
  shownError(error, c.get('requestId'), logOf(c, onInternal));
  const { socket } = c.env.incoming;
  if (socket.remoteAddress !== undefined) socket.resetAndDestroy();
}

/** Answers requests that fail before routing; for the listener's `errorHandler`. */
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

/** A METHOD_NOT_ALLOWED error that names the allowed methods. */
export function methodNotAllowed(allowed: readonly string[]): ServiceError {
  return new ServiceError('METHOD_NOT_ALLOWED', {
    hint: `Allowed: ${allowed.join(', ')}.`,
    headers: { Allow: allowed.join(', ') },
  });
}

/** The headers that identify the sender. */
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
