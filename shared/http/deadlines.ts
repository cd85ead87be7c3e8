import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { newRequestId } from '../lib/ids.ts';
import { isChunked } from './small-chunks.ts';

/** How long a client may take to send. Answers may take as long as they need. */
export interface ReceiveLimits {
  /** From opening the connection to the end of the first request's headers. */
  readonly headersMs: number;
  /** From the end of the headers to the end of the body; for an upload without `lowestRate`, between chunks. */
  readonly bodyMs: number;
  /** Silence on an open connection between requests. */
  readonly keepAliveMs: number;
  /** The fewest bytes of a body in each such time, the first time included; unlimited without it. */
  readonly lowestRate?: { readonly bytes: number; readonly everyMs: number };
}

/** Called before a slow client is cut off. */
interface OnSlow {
  readonly onSlowBody?: ((request: IncomingMessage) => void) | undefined;
  /** No further head came in time, or none at all. */
  readonly onSlowHead?: (socket: Socket) => void;
}

/** Uploads of up to 100 MB, over any connection. The gateway ends an expired one when its next bytes arrive. */
const UPLOAD = /^\/u\/[0-9A-Za-z]+(?:\?|$)/;

/** How soon we look again at a connection of which we read nothing. */
const STOPPED_MS = 1000;

function requestTimeout(): string {
  return `HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\nX-Request-Id: ${newRequestId()}\r\n\r\n`;
}

/**
 * Cuts off clients that send too slowly, with 408. Node's own check is one interval timer per server that runs even without
 * connections; a timer per incoming request costs an idle process nothing.
 */
export function enforceDeadlines(server: Server, limits: ReceiveLimits, onSlow: OnSlow = {}): void {
  const receiving = new WeakMap<Socket, Receiving>();
  server.on('connection', (socket: Socket) => {
    receiving.set(socket, new Receiving(socket, limits, onSlow));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    receiving.get(request.socket)?.headersCame(request, response);
  });
}

/** What one connection still has to send, and by when. */
class Receiving {
  readonly #socket: Socket;
  readonly #limits: ReceiveLimits;
  readonly #onSlow: OnSlow;
  #openRequests = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Since when we read nothing of the connection; null while we do. */
  #stoppedAt: number | null = null;
  /** How long we read nothing before that. */
  #stoppedMs = 0;

  constructor(socket: Socket, limits: ReceiveLimits, onSlow: OnSlow) {
    this.#socket = socket;
    this.#limits = limits;
    this.#onSlow = onSlow;
    this.#expectHead(limits.headersMs);
    socket.on('pause', () => {
      this.#stoppedAt ??= performance.now();
    });
    socket.on('resume', () => {
      if (this.#stoppedAt !== null) this.#stoppedMs += performance.now() - this.#stoppedAt;
      this.#stoppedAt = null;
    });
    socket.once('close', () => clearTimeout(this.#timer));
  }

  headersCame(request: IncomingMessage, response: ServerResponse): void {
    this.#openRequests += 1;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (hasBody(request)) {
      const isUpload = UPLOAD.test(request.url ?? '');
      const { bodyMs } = this.#limits;
      const endsAt = isUpload ? Number.POSITIVE_INFINITY : this.#time + bodyMs;
      this.#expectBytes(request, response, endsAt);
    }
    response.once('close', () => this.#answered());
  }

  /** The sender's time, in milliseconds: it stands still while we read nothing. */
  get #time(): number {
    return (this.#stoppedAt ?? performance.now()) - this.#stoppedMs;
  }

  /** Cuts off a body that isn't complete by `endsAt`, or of which too few bytes come. */
  #expectBytes(request: IncomingMessage, response: ServerResponse, endsAt: number): void {
    const { bodyMs, lowestRate = { bytes: 1, everyMs: bodyMs } } = this.#limits;
    const { bytesRead } = this.#socket;
    const until = Math.min(this.#time + lowestRate.everyMs, endsAt);
    this.#expectBy(until, () => {
      if (request.complete || response.writableFinished) return;
      const isSlow = this.#socket.bytesRead - bytesRead < lowestRate.bytes;
      if (!isSlow && until < endsAt) {
        this.#expectBytes(request, response, endsAt);
        return;
      }
      this.#onSlow.onSlowBody?.(request);
      this.#cutOff(!response.headersSent);
    });
  }

  #answered(): void {
    this.#openRequests -= 1;
    if (this.#openRequests > 0) return;
    // Node closes a silent connection after keepAliveMs; this catches a client that trickles its next headers.
    const { keepAliveMs, headersMs } = this.#limits;
    this.#expectHead(keepAliveMs + headersMs);
  }

  #expectHead(withinMs: number): void {
    this.#expectBy(this.#time + withinMs, () => {
      this.#onSlow.onSlowHead?.(this.#socket);
      this.#cutOff(true);
    });
  }

  /** `until`: the sender's time. */
  #expectBy(until: number, otherwise: () => void): void {
    clearTimeout(this.#timer);
    if (this.#socket.destroyed) return;
    const left = until - this.#time;
    const look = (): void => {
      if (this.#socket.destroyed || this.#timer !== timer) return;
      if (until > this.#time) this.#expectBy(until, otherwise);
      else otherwise();
    };
    // Bytes that came while this process was busy are read first.
    const timer = setTimeout(
      () => setImmediate(look),
      this.#stoppedAt === null ? left : Math.max(left, STOPPED_MS),
    );
    this.#timer = timer;
  }

  /** Says why, unless an answer has already started. */
  #cutOff(sayWhy: boolean): void {
    if (sayWhy && this.#socket.writable) this.#socket.write(requestTimeout());
    this.#socket.destroySoon();
  }
}

function hasBody(request: IncomingMessage): boolean {
  return isChunked(request) || Number(request.headers['content-length'] ?? 0) > 0;
}
