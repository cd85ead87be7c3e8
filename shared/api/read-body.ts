import type { IncomingMessage } from 'node:http';
import type { BodyAccount } from '../admission/admission.ts';
import { ServiceError } from '../lib/errors.ts';
import { admittedOf, type Arrival } from './http.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Keep chunks of at least this size as they are. */
const LARGE_BYTES = 16 * KIB;
/** Copy smaller chunks into buffers of up to this size. */
const BUFFER_MAX_BYTES = 256 * KIB;

/** A body of which less than this has come after so long gives its place to another request. */
const SOON_MS = 20;
const SOON_BYTES = 16 * KIB;

const EMPTY = Buffer.alloc(0);
/** We don't read the rest of a refused body, so its connection can't serve another request. */
const CLOSING = { headers: { Connection: 'close' } };

/** Not an encoding: senders that write one of these mean none, or the charset. */
const NO_ENCODING: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8', 'utf8']);

/** Throws UNSUPPORTED_MEDIA_TYPE for a compressed body. */
export function refuseEncoded({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const encoding = headers['content-encoding'] ?? '';
  if (NO_ENCODING.has(encoding.trim().toLowerCase())) return;
  throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', CLOSING);
}

/**
 * The raw body of a request. PAYLOAD_TOO_LARGE as soon as we know that it exceeds the limit: from its Content-Length
 * before reading a byte, or while reading if that header was wrong or missing. UNAVAILABLE or RATE_LIMITED if there's
 * no room for its bytes.
 */
export async function readBody(arrival: Arrival, maxBytes: number): Promise<Buffer> {
  const pieces = await readPieces(arrival, maxBytes);
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
}

/**
 * Like `readBody`, but in one or more pieces, for callers that don't need one buffer: joining them takes time and
 * memory.
 */
export function readPieces(arrival: Arrival, maxBytes: number): Promise<readonly Buffer[]> {
  const { incoming: request } = arrival;
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.reject(tooLarge(maxBytes));
  // The `close` event fires only once and has fired already.
  if (request.destroyed) return Promise.reject(wentAway());
  const body = new Body(maxBytes);
  const admitted = admittedOf(arrival);
  const account = admitted.openBody();
  let isLate = false;
  let soon: NodeJS.Timeout | undefined;
  const watch = (): void => {
    const { size } = body;
    const look = (): void => {
      if (request.complete || request.destroyed) return;
      if (body.size - size >= SOON_BYTES) {
        watch();
        return;
      }
      isLate = true;
      admitted.stepAside();
    };
    // Bytes that came while this process was busy are read first.
    if (!request.complete) soon = setTimeout(() => setImmediate(look), SOON_MS);
  };
  // Most bodies come together with their heads. These are complete by then, and need no timer.
  queueMicrotask(watch);
  const received = new Promise<readonly Buffer[]>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      const refusal = refusalOf(chunk.length, body, account);
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
      // Every request ends with `close`, so create an error only if the body was incomplete.
      if (!request.readableEnded) reject(wentAway());
    });
  });
  return received
    .then((pieces) => {
      if (body.size < LARGE_BYTES && !isLate) return pieces;
      // What follows takes as long as the body is large.
      return admitted.turn().then(() => pieces);
    })
    .finally(() => {
      clearTimeout(soon);
      account.close();
      body.drop();
    });
}

/** Reserves room for a chunk, or says why there isn't any. */
function refusalOf(bytes: number, body: Body, account: BodyAccount): ServiceError | null {
  return body.size + bytes > body.maxBytes ? tooLarge(body.maxBytes) : account.take(bytes);
}

/**
 * Collects chunks as they arrive. Copies small ones together, because a chunk of one byte costs more than a hundred
 * bytes and may keep alive everything that was read with it. A first chunk that stays the only one isn't copied.
 */
class Body {
  readonly maxBytes: number;
  #pieces: Buffer[] = [];
  #first: Buffer | null = null;
  /** The buffer for small chunks, and how much of it is used. */
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
      // As large as all earlier bytes together, so that there are few buffers.
      const wanted = Math.max(LARGE_BYTES, this.#size);
      this.#buffer = Buffer.allocUnsafe(Math.min(wanted, BUFFER_MAX_BYTES));
    }
    chunk.copy(this.#buffer, this.#taken);
    this.#taken += chunk.length;
  }

  /** Ends the current piece. */
  #cut(): void {
    if (this.#taken > 0) this.#pieces.push(this.#buffer.subarray(0, this.#taken));
    this.#buffer = this.#buffer.subarray(this.#taken);
    this.#taken = 0;
  }

  /** Frees the bytes, because the request and its listeners may stay in memory for long. */
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

function wentAway(): Error {
  return new Error('The sender went away.');
}
