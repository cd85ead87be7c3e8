import { closeSync, read } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Chunks } from './chunks.ts';

/** Given to the system at a time: as much may be counted as sent to a client who left before it came. */
const WRITE_BYTES = 256 * 1024;

const chunks = new Chunks();

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** A part of an open file that is sent once. */
export class FileBody {
  readonly #file: number;
  readonly #start: number;
  readonly #sizeBytes: number;
  readonly #onEnd: (sentBytes: number) => void;

  /** The file is closed in the end, and `onEnd` is told how many bytes went out. */
  constructor(
    file: number,
    part: { readonly start: number; readonly sizeBytes: number },
    onEnd: (sentBytes: number) => void,
  ) {
    this.#file = file;
    this.#start = part.start;
    this.#sizeBytes = part.sizeBytes;
    this.#onEnd = onEnd;
  }

  /**
   * Answers with the part, from the headers to the end. A chunk is read when the one before has gone to the client, and none
   * once the client has left. A file that is too short breaks the connection off, so that the client notices.
   */
  async send(
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const client = new Client(exchange);
    const chunk = chunks.take(this.#sizeBytes);
    try {
      exchange.outgoing.writeHead(status, headers);
      for (let offset = 0; offset < this.#sizeBytes && !client.isGone;) {
        const bytes = await this.#read(chunk, offset);
        offset += bytes.length;
        await client.write(bytes);
      }
      if (!client.isGone) exchange.outgoing.end();
    } catch (error) {
      exchange.outgoing.destroy();
      throw error;
    } finally {
      // A connection that broke may have left bytes on their way.
      chunks.release(chunk, !client.isGone);
      closeSync(this.#file);
      this.#onEnd(client.sentBytes);
    }
  }

  #read(chunk: Buffer, offset: number): Promise<Buffer> {
    const length = Math.min(chunk.length, this.#sizeBytes - offset);
    return new Promise((resolve, reject) => {
      read(this.#file, chunk, 0, length, this.#start + offset, (error, bytesRead) => {
        if (error) reject(error);
        else if (bytesRead > 0) resolve(chunk.subarray(0, bytesRead));
        else reject(new Error(`${offset} bytes came out of ${this.#sizeBytes}.`));
      });
    });
  }
}

/** Whoever takes an answer, as long as the connection lasts. */
class Client {
  readonly #outgoing: ServerResponse;
  #sentBytes = 0;
  #gone = false;
  #wake = (): void => undefined;

  constructor({ incoming, outgoing }: Exchange) {
    this.#outgoing = outgoing;
    this.#gone = incoming.destroyed || outgoing.destroyed;
    // An answer that waits for the one before it on its connection is not told of the end: its request is.
    (outgoing.socket ? outgoing : incoming).once('close', () => {
      this.#gone = true;
      this.#wake();
    });
  }

  get isGone(): boolean {
    return this.#gone;
  }

  /** What may have reached it. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Resolves when the system has taken the bytes, or the client has left. */
  async write(bytes: Buffer): Promise<void> {
    for (let start = 0; start < bytes.length && !this.#gone; start += WRITE_BYTES) {
      const part = bytes.subarray(start, start + WRITE_BYTES);
      this.#sentBytes += part.length;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#outgoing.write(part, (error) => {
          // The end of the connection is told later.
          if (error) this.#gone = true;
          resolve();
        });
      });
    }
  }
}
