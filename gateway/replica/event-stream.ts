import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * A client that lets more than this pile up, beyond what the system takes, is cut off: it can come again, and a thousand of
 * them cost the others little.
 */
const BACKLOG_MAX_BYTES = 256 * 1024;
/** A client that does not take the end of a stream within this time is not waited for. */
const END_MS = 1000;

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Resolves when an answer is out, or its client has left. */
export function whenClosed({ incoming, outgoing }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.destroyed || incoming.destroyed) return resolve();
    // An answer that waits for the one before it on its connection is not told of the end: its request is.
    (outgoing.socket ? outgoing : incoming).once('close', resolve);
  });
}

/** An answer that is sent piece by piece for as long as its client listens. Its headers go out with the first. */
export class EventStream {
  readonly #outgoing: ServerResponse;
  readonly #headers: Readonly<Record<string, string>>;
  /** Resolves when the client has left, or has taken the end. */
  readonly closed: Promise<void>;

  constructor(exchange: Exchange, headers: Readonly<Record<string, string>>) {
    this.#outgoing = exchange.outgoing;
    this.#headers = headers;
    this.closed = whenClosed(exchange);
  }

  send(text: string): void {
    if (!this.#begun()) return;
    this.#outgoing.write(text);
    if (this.#outgoing.writableLength > BACKLOG_MAX_BYTES) this.#outgoing.destroy();
  }

  /** Sends this, and nothing more. */
  end(text: string): void {
    if (!this.#begun()) return;
    this.#outgoing.end(text);
    const cut = setTimeout(() => this.#outgoing.destroy(), END_MS);
    void this.closed.then(() => clearTimeout(cut));
  }

  /** False when nothing more can be sent. */
  #begun(): boolean {
    if (this.#outgoing.destroyed || this.#outgoing.writableEnded) return false;
    if (!this.#outgoing.headersSent) this.#outgoing.writeHead(200, this.#headers);
    return true;
  }
}
