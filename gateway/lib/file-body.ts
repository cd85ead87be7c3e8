import { closeSync, read } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestInfo } from '../../shared/api/http.ts';
import type { Readable } from 'node:stream';
import { Chunks } from './chunks.ts';

/** Bytes per write. If a client leaves early, up to this much counts as sent although it never arrived. */
const WRITE_BYTES = 256 * 1024;

const chunks = new Chunks();

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly visit?: Pick<RequestInfo, 'admitted'>;
}

/** Checks bytes as they pass. */
interface BodyCheck {
  add(bytes: Uint8Array): void;
  /** Throws if they weren't the right ones. */
  end(): void;
  /** The error for a file that can't be read to its end. */
  unreadable(): Error;
}

interface Part {
  readonly start: number;
  readonly sizeBytes: number;
  /** For a whole file. */
  readonly check?: BodyCheck | null;
}

/** A part of an open file, for one response. */
export class FileBody {
  readonly #file: number;
  readonly #start: number;
  readonly #sizeBytes: number;
  readonly #check: BodyCheck | null;
  readonly #onEnd: (sentBytes: number) => void;

  /** `send` closes the file and calls `onEnd` with the number of bytes sent. */
  constructor(file: number, part: Part, onEnd: (sentBytes: number) => void) {
    this.#file = file;
    this.#start = part.start;
    this.#sizeBytes = part.sizeBytes;
    this.#check = part.check ?? null;
    this.#onEnd = onEnd;
  }

  /**
   * Sends headers and the part. It reads a chunk after the client has taken the previous one, and stops if the client
   * leaves. A file that is too short or fails its check breaks the connection before the last byte, so that the client
   * notices. If nothing was sent yet, the caller can still answer.
   */
  async send(
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const client = new Client(exchange);
    const chunk = chunks.take(this.#sizeBytes);
    try {
      for (let offset = 0; offset < this.#sizeBytes && !client.isGone;) {
        const bytes = await this.#read(chunk, offset);
        offset += bytes.length;
        this.#check?.add(bytes);
        if (offset === this.#sizeBytes) this.#check?.end();
        if (!exchange.outgoing.headersSent) exchange.outgoing.writeHead(status, headers);
        await client.write(bytes);
      }
      endAnswer(client, exchange, { status, headers });
    } catch (error) {
      breakOff(exchange);
      throw error;
    } finally {
      // A broken connection may still use the chunk's bytes.
      chunks.release(chunk, !client.isGone);
      closeSync(this.#file);
      this.#onEnd(client.sentBytes);
    }
  }

  #read(chunk: Buffer, offset: number): Promise<Buffer> {
    const length = Math.min(chunk.length, this.#sizeBytes - offset);
    return new Promise((resolve, reject) => {
      read(this.#file, chunk, 0, length, this.#start + offset, (error, bytesRead) => {
        if (!error && bytesRead > 0) resolve(chunk.subarray(0, bytesRead));
        else if (this.#check) reject(this.#check.unreadable());
        else reject(error ?? new Error(`${offset} bytes came out of ${this.#sizeBytes}.`));
      });
    });
  }
}

/** Bytes that come from elsewhere, for one response: one piece at a time is in memory. */
export class StreamBody {
  readonly #stream: Readable;
  readonly #onEnd: (sentBytes: number) => void;

  /** `send` ends the stream and calls `onEnd` with the number of bytes sent. */
  constructor(stream: Readable, onEnd: (sentBytes: number) => void) {
    this.#stream = stream;
    this.#onEnd = onEnd;
  }

  /** Sends headers and the bytes. A stream that breaks off breaks the connection, so that the client notices. */
  async send(
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const client = new Client(exchange);
    try {
      for await (const chunk of this.#stream as AsyncIterable<Buffer>) {
        if (client.isGone) break;
        if (!exchange.outgoing.headersSent) exchange.outgoing.writeHead(status, headers);
        await client.write(chunk);
      }
      endAnswer(client, exchange, { status, headers });
    } catch (error) {
      breakOff(exchange);
      throw error;
    } finally {
      this.#stream.destroy();
      this.#onEnd(client.sentBytes);
    }
  }
}

interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

function endAnswer(client: Client, { outgoing }: Exchange, { status, headers }: Head): void {
  if (client.isGone) return;
  if (!outgoing.headersSent) outgoing.writeHead(status, headers);
  outgoing.end();
}

/** A client that got the beginning must not take it for the whole. */
function breakOff({ outgoing }: Exchange): void {
  if (outgoing.headersSent) outgoing.destroy();
}

/** The client of a response, for as long as the connection lasts. */
class Client {
  readonly #outgoing: ServerResponse;
  #sentBytes = 0;
  #gone = false;
  #wake = (): void => undefined;

  constructor({ incoming, outgoing, visit }: Exchange) {
    // It may last long, and has limits of its own.
    visit?.admitted.stepAside();
    this.#outgoing = outgoing;
    this.#gone = incoming.destroyed || outgoing.destroyed;
    // A response queued behind another one on its connection has no socket and gets no `close`; its request does.
    (outgoing.socket ? outgoing : incoming).once('close', () => {
      this.#gone = true;
      this.#wake();
    });
  }

  get isGone(): boolean {
    return this.#gone;
  }

  /** Bytes that may have reached the client. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Resolves once the system has taken the bytes, or the client has left. */
  async write(bytes: Buffer): Promise<void> {
    for (let start = 0; start < bytes.length && !this.#gone; start += WRITE_BYTES) {
      const part = bytes.subarray(start, start + WRITE_BYTES);
      this.#sentBytes += part.length;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#outgoing.write(part, (error) => {
          // The `close` event comes later.
          if (error) this.#gone = true;
          resolve();
        });
      });
    }
  }
}
