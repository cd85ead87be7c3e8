import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client may take to send. Answers may take as long as they need. */
export interface ReceiveLimits {
  /** From opening the connection to the end of the first request's headers. */
  readonly headersMs: number;
  /** From the end of the headers to the end of the body; for an upload, between chunks. */
  readonly bodyMs: number;
  /** Silence on an open connection between requests. */
  readonly keepAliveMs: number;
}

/** Uploads of up to 100 MB, over any connection. The gateway ends an expired one when its next bytes arrive. */
const UPLOAD = /^\/u\/[0-9A-Za-z]+(?:\?|$)/;

const REQUEST_TIMEOUT =
  'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * Cuts off clients that send too slowly. Node's own check is one interval timer per server that runs even without
 * connections; a timer per incoming request costs an idle process nothing.
 */
export function enforceDeadlines(server: Server, limits: ReceiveLimits): void {
  const receiving = new WeakMap<Socket, Receiving>();
  server.on('connection', (socket: Socket) => receiving.set(socket, new Receiving(socket, limits)));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    receiving.get(request.socket)?.headersCame(request, response);
  });
}

/** What one connection still has to send, and by when. */
class Receiving {
  readonly #socket: Socket;
  readonly #limits: ReceiveLimits;
  #openRequests = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, limits: ReceiveLimits) {
    this.#socket = socket;
    this.#limits = limits;
    this.#expectWithin(limits.headersMs, () => this.#cutOff(true));
    socket.once('close', () => clearTimeout(this.#timer));
  }

  headersCame(request: IncomingMessage, response: ServerResponse): void {
    this.#openRequests += 1;
    clearTimeout(this.#timer);
    if (hasBody(request) && UPLOAD.test(request.url ?? '')) {
      this.#expectProgress(request, response);
    } else if (hasBody(request)) {
      this.#expectWithin(this.#limits.bodyMs, () => {
        if (!request.complete) this.#cutOff(!response.headersSent);
      });
    }
    response.once('close', () => this.#answered());
  }

  /** Cuts off an upload if no bytes arrived for as long as another body may take in total. */
  #expectProgress(request: IncomingMessage, response: ServerResponse): void {
    const { bytesRead } = this.#socket;
    this.#expectWithin(this.#limits.bodyMs, () => {
      if (request.complete) return;
      if (this.#socket.bytesRead > bytesRead) this.#expectProgress(request, response);
      else this.#cutOff(!response.headersSent);
    });
  }

  #answered(): void {
    this.#openRequests -= 1;
    if (this.#openRequests > 0) return;
    // Node closes a silent connection after keepAliveMs; this catches a client that trickles its next headers.
    const { keepAliveMs, headersMs } = this.#limits;
    this.#expectWithin(keepAliveMs + headersMs, () => this.#cutOff(true));
  }

  #expectWithin(ms: number, otherwise: () => void): void {
    clearTimeout(this.#timer);
    if (this.#socket.destroyed) return;
    this.#timer = setTimeout(otherwise, ms);
  }

  /** Says why, unless an answer has already started. */
  #cutOff(sayWhy: boolean): void {
    if (sayWhy && this.#socket.writable) this.#socket.write(REQUEST_TIMEOUT);
    this.#socket.destroySoon();
  }
}

function hasBody(request: IncomingMessage): boolean {
  return (
    'transfer-encoding' in request.headers || Number(request.headers['content-length'] ?? 0) > 0
  );
}
