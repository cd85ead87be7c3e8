import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { ListenOptions, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { invalid } from '../lib/errors.ts';
import { connected } from '../lib/next-turn.ts';
import { answerError } from './answers.ts';
import { CarefulReader } from './careful-reader.ts';
import { enforceDeadlines, type ReceiveLimits } from './deadlines.ts';
import { hostProblem } from './host.ts';
import { lingerAfterRefusal } from './linger.ts';
import { isChunked, joinSmallChunks } from './small-chunks.ts';
import { answerUnreadable } from './unreadable.ts';

/** Answers requests. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpServerOptions {
  readonly limits?: ReceiveLimits;
  /** The maximum number of connections; more are closed at once. */
  readonly connectionsMax?: number;
  /** Called for each new connection. */
  readonly onConnection?: (socket: Socket) => void;
  /** Called for a request whose body comes too slowly, before it's cut off. */
  readonly onSlowBody?: (request: IncomingMessage) => void;
  /** Called for a connection that is closed without a request or an answer; null if it never was ours. */
  readonly onCutOff?: (why: CutOff, socket: Socket | null) => void;
}

/** There are too many connections, a client sent too much that wasn't parsed yet, or no head in time. */
export type CutOff = 'too many' | 'too much' | 'too slow';

const NOBODY = (): void => undefined;

/** No answer takes longer than a wait of 120 s, so after this silence the peer is dead or stalled. */
const SILENT_CONNECTION_MS = 180_000;
const CONNECTIONS_MAX = 2048;
/** How many new connections the system queues until we accept them. */
const BACKLOG = 4096;
/** Lines of a head. Programs send twenty or so; 16 KB could be four thousand, which take as long as a large body. */
const HEADERS_MAX = 200;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Balancers keep idle connections for up to 75 s, and answer 502 if we close one as they use it. */
export const KEEP_ALIVE_MS = 80_000;
const LIMITS: ReceiveLimits = { headersMs: 10_000, bodyMs: 30_000, keepAliveMs: KEEP_ALIVE_MS };

/** A `node:http` server that slow or silent clients can't block, and that closes on request. */
export class HttpServer {
  readonly #server: Server;
  readonly #reading: CarefulReader;
  #closing = false;

  private constructor(server: Server, reading: CarefulReader) {
    this.#server = server;
    this.#reading = reading;
  }

  /**
   * `handlerOf` gets the port, which is known only once the server listens: 0 picks a free one; a unix socket has none.
   */
  static async listen(
    address: ListenOptions,
    handlerOf: (port: number) => Handler,
    options: HttpServerOptions = {},
  ): Promise<HttpServer> {
    const { limits = LIMITS, connectionsMax = CONNECTIONS_MAX } = options;
    const { onConnection, onSlowBody, onCutOff = NOBODY } = options;
    const server = createServer({
      // `enforceDeadlines` limits sending; Node's own check would wake an idle process every second.
      connectionsCheckingInterval: LONGEST_TIMER_MS,
      headersTimeout: 0,
      requestTimeout: 0,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: 16 * 1024,
    });
    server.maxConnections = connectionsMax;
    // Node drops the lines beyond this, so one more shows that there were too many.
    server.maxHeadersCount = HEADERS_MAX + 1;
    server.timeout = SILENT_CONNECTION_MS;
    server.on('drop', () => onCutOff('too many', null));
    const reading = new CarefulReader((socket) => onCutOff('too much', socket));
    const listening = new HttpServer(server, reading);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ backlog: BACKLOG, ...address }, () => {
        server.off('error', reject);
        // No request can have arrived yet.
        listening.#answerBy(handlerOf(listening.port));
        enforceDeadlines(server, limits, {
          onSlowBody,
          onSlowHead: (socket) => onCutOff('too slow', socket),
        });
        answerUnreadable(server);
        server.on('connection', connected);
        server.on('connection', (socket: Socket) => reading.opened(socket));
        if (onConnection) server.on('connection', onConnection);
        resolve();
      });
    });
    return listening;
  }

  /** 0 for a unix socket. */
  get port(): number {
    const address = this.#server.address();
    return address === null || typeof address === 'string' ? 0 : address.port;
  }

  /** Accepts no new connections. Resolves when all answers are sent, or cuts off the rest after that time. */
  async close(withinMs: number): Promise<void> {
    this.#closing = true;
    const closed = new Promise<true>((resolve) => this.#server.close(() => resolve(true)));
    const cutOff = setTimeout(() => this.#server.closeAllConnections(), withinMs);
    // A kept-alive connection is idle only after its answer, so look again until all are gone.
    while (!(await Promise.race([closed, sleep(10, false)]))) this.#server.closeIdleConnections();
    clearTimeout(cutOff);
  }

  #answerBy(handler: Handler): void {
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      // We've said the last word on this connection.
      if (!request.socket.writable) {
        if (request.socket.destroyed) this.#reading.tooMany(request.socket);
        return;
      }
      // Otherwise a client that always has another request would never let its connection become idle.
      if (this.#closing) response.setHeader('Connection', 'close');
      lingerAfterRefusal(request, response);
      this.#reading.request();
      if (isChunked(request)) {
        joinSmallChunks(request, response, () => this.#reading.smallChunk(request.socket));
      }
      if (request.rawHeaders.length > 2 * HEADERS_MAX) {
        this.#reading.refused(request.socket);
        const message = `Send at most ${HEADERS_MAX} of them.`;
        answerError(response, invalid({ path: 'headers', message }), 431);
        return;
      }
      const problem = hostProblem(request);
      if (problem === null) handler(request, response);
      else answerError(response, invalid({ path: 'Host', message: problem }));
    });
  }
}
