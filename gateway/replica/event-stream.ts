import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestInfo } from '../../shared/api/http.ts';

/**
 * We cut off a client that lets more than this pile up beyond the system's buffers. It can reconnect, and a thousand such
 * clients cost the others little.
 */
const BACKLOG_MAX_BYTES = 256 * 1024;
/** We wait no longer than this for a client to read the end of a stream. */
const END_MS = 1000;

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly visit?: Pick<RequestInfo, 'admitted'>;
}

/** Resolves once an answer is sent or its client has left. */
export function whenClosed({ incoming, outgoing }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.destroyed || incoming.destroyed) return resolve();
    // A queued answer on the same connection gets no close event, but its request does.
    (outgoing.socket ? outgoing : incoming).once('close', resolve);
  });
}

/** Sends an answer piece by piece while its client listens. The headers go out with the first piece. */
export class EventStream {
  readonly #outgoing: ServerResponse;
  readonly #headers: Readonly<Record<string, string>>;
  /** Resolves once the client has left or has read the end. */
  readonly closed: Promise<void>;

  constructor(exchange: Exchange, headers: Readonly<Record<string, string>>) {
    this.#outgoing = exchange.outgoing;
    this.#headers = headers;
    this.closed = whenClosed(exchange);
    // It may last long, and has limits of its own.
    exchange.visit?.admitted.stepAside();
  }

  send(text: string): void {
    if (!this.#begun()) return;
    this.#outgoing.write(text);
    if (this.#outgoing.writableLength > BACKLOG_MAX_BYTES) this.#outgoing.destroy();
  }

  /** Sends this text and closes the stream. */
  end(text: string): void {
    if (!this.#begun()) return;
    this.#outgoing.end(text);
    const cut = setTimeout(() => this.#outgoing.destroy(), END_MS);
    void this.closed.then(() => clearTimeout(cut));
  }

  /** Sends the headers if needed; false if the stream can't send any more. */
  #begun(): boolean {
    if (this.#outgoing.destroyed || this.#outgoing.writableEnded) return false;
    if (!this.#outgoing.headersSent) this.#outgoing.writeHead(200, this.#headers);
    return true;
  }
}
