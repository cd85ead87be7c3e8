import type { Agent as HttpAgent, ClientRequest, IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { asStoreError, SenderError, WireError } from './s3-errors.ts';

const CONNECT_MS = 3000;

/** A signed request, ready to send. */
export interface Exchange {
  /** For messages: the method and key, without the signature. */
  readonly what: string;
  readonly method: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null;
  /** How long the bucket may be silent. */
  readonly silenceMs: number;
  /** False gives the request a connection of its own. */
  readonly agent: HttpAgent | false;
}

/** Sends a request and resolves with the head of the answer. WireError if none comes, SenderError if sending the body fails. */
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
    // The sender may be slow; only the bucket may not.
    if (!sending.waitsForSender) request.destroy(new Error(`silent for ${silenceMs} ms`));
  });
  return new Promise((resolve, reject) => {
    request.on('error', (error) => {
      reject(error instanceof SenderError ? error : new WireError(what, error));
    });
    request.on('response', (response) => {
      // From here on the reader may be slow: see S3Body.
      request.setTimeout(0);
      // The answer came before the whole body was sent, so don't send the rest.
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

/** Asks for a chunk when the previous one has gone to the socket, and stops once the answer has come. */
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
 * The body of an answer: exactly the announced number of bytes, or the error UNAVAILABLE. The bucket's silence is
 * limited only while somebody waits for bytes.
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
    // Nobody has asked for bytes yet.
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
