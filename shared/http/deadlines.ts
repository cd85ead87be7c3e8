import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client may take to send. Nothing here limits the time an answer takes. */
export interface ReceiveLimits {
  /** From the opening of a connection to the end of the first request's headers. */
  readonly headersMs: number;
  /** From the end of the headers to the end of the body; for an upload, to the next bytes of it. */
  readonly bodyMs: number;
  /** Silence on an open connection between requests. */
  readonly keepAliveMs: number;
}

/** Up to 100 MB come here, over any line. The gateway ends one whose time is over at its next bytes. */
const UPLOAD = /^\/u\/[0-9A-Za-z]+(?:\?|$)/;

const REQUEST_TIMEOUT =
  'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * Cuts off clients that send too slowly. Node's own check is one interval timer a server that also
 * runs while nobody is connected; a timer for each request being received costs an idle process nothing.
 */
export function enforceDeadlines(server: Server, limits: ReceiveLimits): void {
  const receiving = new WeakMap<Socket, Receiving>();
  server.on('connection', (socket: Socket) => receiving.set(socket, new Receiving(socket, limits)));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    receiving.get(request.socket)?.headersCame(request, response);
  });
}

/** What one connection owes us, and until when. */
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

  /** Cuts off a body of which nothing came for as long as another body may take in all. */
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
    // Node closes a silent connection after keepAliveMs; this catches one that trickles its next headers.
    const { keepAliveMs, headersMs } = this.#limits;
    this.#expectWithin(keepAliveMs + headersMs, () => this.#cutOff(true));
  }

  #expectWithin(ms: number, otherwise: () => void): void {
    clearTimeout(this.#timer);
    if (this.#socket.destroyed) return;
    this.#timer = setTimeout(otherwise, ms);
  }

  /** Says why, unless an answer is already under way. */
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
