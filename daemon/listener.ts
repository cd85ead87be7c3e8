import { getRequestListener } from '@hono/node-server';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { ListenOptions } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { unroutable } from '../shared/bindings/http.ts';
import { ServiceError, unavailable } from '../shared/errors.ts';
import { answerError } from './answers.ts';
import { enforceDeadlines, type ReceiveLimits } from './deadlines.ts';
import { refusal, type Door } from './guard.ts';

type Fetch = Parameters<typeof getRequestListener>[0];

/** What stands behind the listeners. */
export interface Backend {
  /** Null while the stores are still being opened. */
  fetch: Fetch | null;
  /** The daemon's own routes. They exist on the socket only; true when the request was one of them. */
  readonly control: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** No answer takes longer than a wait of 120 s: a connection silent for this long has a dead or stalled peer. */
const SILENT_CONNECTION_MS = 180_000;
const CONNECTIONS_MAX = 2048;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const LIMITS: ReceiveLimits = { headersMs: 10_000, bodyMs: 30_000, keepAliveMs: 5_000 };

/** One HTTP server of the daemon: on its socket or on loopback. */
export class Listener {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static onSocket(path: string, backend: Backend): Promise<Listener> {
    return Listener.#listen({ path }, () => ({ kind: 'socket' }), backend);
  }

  /** Port 0 takes a free one. */
  static onLoopback(port: number, backend: Backend, limits = LIMITS): Promise<Listener> {
    return Listener.#listen({ host: '127.0.0.1', port }, tcpDoor, backend, limits);
  }

  static async #listen(
    address: ListenOptions,
    door: (server: Server) => Door,
    backend: Backend,
    limits = LIMITS,
  ): Promise<Listener> {
    const server = createServer({
      // Sending is timed by `enforceDeadlines`; Node's own check would wake an idle process each second.
      connectionsCheckingInterval: LONGEST_TIMER_MS,
      headersTimeout: 0,
      requestTimeout: 0,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: 16 * 1024,
    });
    server.maxConnections = CONNECTIONS_MAX;
    server.timeout = SILENT_CONNECTION_MS;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(address, () => {
        server.off('error', reject);
        // The door names its port, which is known only now; no request can have come before.
        server.on('request', handler(backend, door(server)));
        enforceDeadlines(server, limits);
        resolve();
      });
    });
    return new Listener(server);
  }

  get port(): number {
    return portOf(this.#server);
  }

  /** Accepts nothing new from here on. Resolves when all answers are out, or cuts the rest off after that time. */
  async close(withinMs: number): Promise<void> {
    const closed = new Promise<true>((resolve) => this.#server.close(() => resolve(true)));
    const cutOff = setTimeout(() => this.#server.closeAllConnections(), withinMs);
    // A kept-open connection is idle only once its answer is out, so look again until all are gone.
    while (!(await Promise.race([closed, sleep(10, false)]))) this.#server.closeIdleConnections();
    clearTimeout(cutOff);
  }
}

function tcpDoor(server: Server): Door {
  return { kind: 'tcp', port: portOf(server) };
}

function portOf(server: Server): number {
  const address = server.address();
  return address === null || typeof address === 'string' ? 0 : address.port;
}

function handler(backend: Backend, door: Door) {
  let serve: ReturnType<typeof getRequestListener> | null = null;
  return (request: IncomingMessage, response: ServerResponse): void => {
    const refused = refusal({ url: request.url ?? '/', headers: request.headers }, door);
    if (refused) return answerRefusal(response, refused.header, refused.reason);
    if (door.kind === 'socket' && backend.control(request, response)) return;
    if (!backend.fetch) return answerError(response, unavailable(1));
    serve ??= getRequestListener(backend.fetch, { errorHandler: unroutable });
    void serve(request, response);
  };
}

/** The table has no code for a foreign web page: the request is invalid, and 403 says that no repair by it helps. */
function answerRefusal(response: ServerResponse, header: string, reason: string): void {
  const error = new ServiceError('VALIDATION_FAILED', {
    hint: reason,
    details: { fields: [{ path: header, message: reason }] },
  });
  answerError(response, error, 403);
}
