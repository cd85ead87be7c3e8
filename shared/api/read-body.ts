import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../lib/errors.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** From here on a chunk is kept as it came. */
const LARGE_BYTES = 16 * KIB;
/** Smaller ones are put together in buffers of up to this size. */
const BUFFER_MAX_BYTES = 256 * KIB;

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
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  intake = INTAKE,
): Promise<Buffer> {
  const pieces = await readPieces(request, maxBytes, intake);
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
}

/** The same in pieces, one at least, for who need not have them together: a copy takes time and leaves garbage. */
export function readPieces(
  request: IncomingMessage,
  maxBytes: number,
  intake = INTAKE,
): Promise<readonly Buffer[]> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.reject(tooLarge(maxBytes));
  // It tells so once only, and that was before anybody listened.
  if (request.destroyed) return Promise.reject(wentAway());
  const body = new Body(maxBytes);
  const received = new Promise<readonly Buffer[]>((resolve, reject) => {
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
    request.once('end', () => resolve(body.pieces()));
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
 * Chunks as they come. Small ones are copied together, as a chunk of one byte costs more than a hundred and may hold on to
 * all that was read with it; but for the first as long as it is the only one.
 */
class Body {
  readonly maxBytes: number;
  #pieces: Buffer[] = [];
  #first: Buffer | null = null;
  /** Where small chunks go, and how much of it is taken. */
  #buffer: Buffer = EMPTY;
  #taken = 0;
  #size = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get size(): number {
    return this.#size;
  }

  add(chunk: Buffer): void {
    if (this.#first) this.#keep(this.#first);
    if (this.#size > 0) this.#keep(chunk);
    this.#first = this.#size > 0 ? null : chunk;
    this.#size += chunk.length;
  }

  pieces(): readonly Buffer[] {
    if (this.#size === 0) return [EMPTY];
    if (this.#first) return [this.#first];
    this.#cut();
    return this.#pieces;
  }

  #keep(chunk: Buffer): void {
    if (chunk.length >= LARGE_BYTES) {
      this.#cut();
      this.#pieces.push(chunk);
      return;
    }
    if (this.#taken + chunk.length > this.#buffer.length) {
      this.#cut();
      // As large as all before it, so that there are few of them.
      const wanted = Math.max(LARGE_BYTES, this.#size);
      this.#buffer = Buffer.allocUnsafe(Math.min(wanted, BUFFER_MAX_BYTES));
    }
    chunk.copy(this.#buffer, this.#taken);
    this.#taken += chunk.length;
  }

  /** Ends the piece that is being put together. */
  #cut(): void {
    if (this.#taken > 0) this.#pieces.push(this.#buffer.subarray(0, this.#taken));
    this.#buffer = this.#buffer.subarray(this.#taken);
    this.#taken = 0;
  }

  /** Lets the bytes go: the request, and with it whoever listens to it, may stay for long. */
  drop(): void {
    this.#pieces = [];
    this.#first = null;
    this.#buffer = EMPTY;
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
