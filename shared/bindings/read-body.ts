import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../errors.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The first buffer of a body whose length nobody told. */
const START_BYTES = 16 * KIB;
/** No more than this on the word of a Content-Length alone. */
const TRUSTED_BYTES = 256 * KIB;

/** The bytes of all bodies that are being received, which have to fit into the memory of the process. */
export class Intake {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False, and nothing is taken, where there is no room for these bytes. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

const EMPTY = Buffer.alloc(0);
/** What is left of a refused body is not read: the connection cannot serve another request. */
const CLOSING = { headers: { Connection: 'close' } };
const INTAKE = new Intake(256 * MIB);

/** UNSUPPORTED_MEDIA_TYPE for a compressed body. */
export function refuseEncoded(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', CLOSING);
}

/**
 * The raw body of a request, refused with PAYLOAD_TOO_LARGE as soon as it is known to be longer than the limit: by its
 * Content-Length before a byte is read, or in passing when that lied or was absent.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  intake = INTAKE,
): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.reject(tooLarge(maxBytes));
  // It tells so once only, and that was before anybody listened.
  if (request.destroyed) return Promise.reject(wentAway());
  const body = new Body(declared, maxBytes);
  const received = new Promise<Buffer>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      const refusal = refusalOf(chunk.length, body, intake);
      if (refusal === null) {
        body.add(chunk);
        return;
      }
      request.off('data', onData);
      request.pause();
      reject(refusal);
    };
    request.on('data', onData);
    request.once('end', () => resolve(body.whole()));
    request.once('error', reject);
    request.once('aborted', () => reject(wentAway()));
    request.once('close', () => {
      // Every request ends so: an error is made only where it is one.
      if (!request.readableEnded) reject(wentAway());
    });
  });
  return received.finally(() => {
    intake.release(body.size);
    body.drop();
  });
}

/** Takes the room for a chunk, or says why there is none. */
function refusalOf(bytes: number, body: Body, intake: Intake): ServiceError | null {
  if (body.size + bytes > body.maxBytes) return tooLarge(body.maxBytes);
  return intake.take(bytes) ? null : noRoom();
}

/**
 * Chunks put together as they come. They are copied, as a chunk of one byte costs more than a hundred and may hold on to
 * all that was read with it; only one that comes alone is the body as it is.
 */
class Body {
  readonly maxBytes: number;
  readonly #declared: number;
  #bytes: Buffer = EMPTY;
  #size = 0;

  constructor(declared: number, maxBytes: number) {
    this.#declared = declared;
    this.maxBytes = maxBytes;
  }

  get size(): number {
    return this.#size;
  }

  add(chunk: Buffer): void {
    const needed = this.#size + chunk.length;
    if (this.#size === 0) {
      this.#bytes = chunk;
    } else {
      if (needed > this.#bytes.length) this.#grow(needed);
      chunk.copy(this.#bytes, this.#size);
    }
    this.#size = needed;
  }

  whole(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #grow(needed: number): void {
    const told = needed > TRUSTED_BYTES ? this.#declared : Math.min(this.#declared, TRUSTED_BYTES);
    const doubled = Math.min(Math.max(START_BYTES, this.#bytes.length * 2), this.maxBytes);
    const bytes = Buffer.allocUnsafe(told >= needed ? told : Math.max(doubled, needed));
    this.#bytes.copy(bytes, 0, 0, this.#size);
    this.#bytes = bytes;
  }

  /** Lets the bytes go: the request, and with it whoever listens to it, may stay for long. */
  drop(): void {
    this.#bytes = EMPTY;
  }
}

function tooLarge(maxBytes: number): ServiceError {
  const limit = maxBytes < MIB ? `${maxBytes / KIB} KB` : `${maxBytes / MIB} MB`;
  return new ServiceError('PAYLOAD_TOO_LARGE', { hint: `At most ${limit}.`, ...CLOSING });
}

function noRoom(): ServiceError {
  return new ServiceError('UNAVAILABLE', { details: { retry_after: 1 }, ...CLOSING });
}

function wentAway(): Error {
  return new Error('The sender went away.');
}
