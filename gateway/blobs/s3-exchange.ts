import type { Agent as HttpAgent, ClientRequest, IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { asStoreError, SenderError, WireError } from './s3-errors.ts';

const CONNECT_MS = 3000;

/** A signed request, ready to go. */
export interface Exchange {
  /** For messages: method and key, and nothing of the signature. */
  readonly what: string;
  readonly method: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null;
  /** How long the other side may be silent. */
  readonly silenceMs: number;
  /** False for a connection of its own. */
  readonly agent: HttpAgent | false;
}

/** Sends a request and resolves with the head of the answer. WireError when none comes, SenderError for its body. */
export function exchange(parts: Exchange): Promise<IncomingMessage> {
  const { what, method, address, headers, body, silenceMs, agent } = parts;
  const start = address.startsWith('https:') ? httpsRequest : httpRequest;
  const request = start(address, { method, headers, agent, timeout: silenceMs });
  const sending = { waitsForSender: false };
  request.on('socket', (socket) => {
    if (!socket.connecting) return;
    const cutOff = setTimeout(() => {
      request.destroy(new Error(`not connected after ${CONNECT_MS} ms`));
    }, CONNECT_MS);
    const stop = (): void => clearTimeout(cutOff);
    socket.once('connect', stop).once('close', stop);
  });
  request.on('timeout', () => {
    // A sender may take its time; only the bucket may not.
    if (!sending.waitsForSender) request.destroy(new Error(`silent for ${silenceMs} ms`));
  });
  return new Promise((resolve, reject) => {
    request.on('error', (error) => {
      reject(error instanceof SenderError ? error : new WireError(what, error));
    });
    request.on('response', (response) => {
      // From here on, whoever reads may be slow: see S3Body.
      request.setTimeout(0);
      // It came before the whole body was sent: the rest is not.
      response.once('close', () => {
        if (!request.writableEnded) request.destroy();
      });
      resolve(response);
    });
    if (body === null || body instanceof Uint8Array) {
      request.end(body ?? undefined);
      return;
    }
    sendChunks(request, body, sending).catch((error: unknown) => {
      request.destroy(new SenderError(error));
    });
  });
}

/** Asks for a chunk when the one before is gone to the socket, and for no more when the answer is there already. */
async function sendChunks(
  request: ClientRequest,
  chunks: AsyncIterable<Uint8Array>,
  sending: { waitsForSender: boolean },
): Promise<void> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  request.once('response', end).once('close', end);
  sending.waitsForSender = true;
  for await (const chunk of chunks) {
    if (isOver) return;
    sending.waitsForSender = false;
    if (!request.write(chunk)) await drained(request);
    sending.waitsForSender = true;
  }
  sending.waitsForSender = false;
  if (!isOver) request.end();
}

function drained(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done).off('response', done).off('close', done);
      resolve();
    };
    request.on('drain', done).on('response', done).on('close', done);
    if (request.destroyed) done();
  });
}

/**
 * The body of an answer, of as many bytes as were announced or an error: UNAVAILABLE. While somebody waits for bytes, the
 * bucket may be silent only so long; while nobody does, it takes no harm.
 */
export class S3Body extends Readable {
  readonly #response: IncomingMessage;
  readonly #what: string;
  readonly #silenceMs: number;
  #silence: NodeJS.Timeout | undefined;

  constructor(
    response: IncomingMessage,
    parts: { what: string; sizeBytes: number | null; silenceMs: number },
  ) {
    super();
    this.#response = response;
    this.#what = parts.what;
    this.#silenceMs = parts.silenceMs;
    const { sizeBytes } = parts;
    let came = 0;
    response.on('data', (chunk: Uint8Array) => {
      this.#heard();
      came += chunk.length;
      if (!this.push(chunk)) response.pause();
    });
    response.on('end', () => {
      this.#heard();
      if (sizeBytes === null || came === sizeBytes) this.push(null);
      else this.destroy(new Error(`received ${came} of ${sizeBytes} bytes`));
    });
    response.on('error', (error) => this.destroy(error));
    // Nobody has asked yet.
    response.pause();
  }

  override _read(): void {
    this.#silence ??= setTimeout(() => {
      this.destroy(new Error(`silent for ${this.#silenceMs} ms`));
    }, this.#silenceMs);
    this.#response.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#heard();
    this.#response.destroy();
    callback(error && (asStoreError(new WireError(this.#what, error)) as Error));
  }

  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }
}
