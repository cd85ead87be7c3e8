import type { IncomingMessage, ServerResponse } from 'node:http';

const SMALL_BYTES = 256;
/** Small chunks are joined up to this size. */
const JOINED_BYTES = 4096;

const EMPTY = Buffer.alloc(0);

/** Whether a body comes in chunks. */
export function isChunked({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return 'transfer-encoding' in headers;
}

/**
 * Joins the small chunks of a body that arrive together, because each chunk that waits to be read takes some hundred
 * bytes of memory. Calls `onSmall` for each of them.
 */
export function joinSmallChunks(
  request: IncomingMessage,
  response: ServerResponse,
  onSmall: () => void,
): void {
  const push = request.push.bind(request);
  let joined = EMPTY;
  let taken = 0;
  let flushing: NodeJS.Immediate | null = null;
  const flush = (): boolean => {
    if (flushing) clearImmediate(flushing);
    flushing = null;
    if (taken === 0) return true;
    const piece = joined.subarray(0, taken);
    joined = joined.subarray(taken);
    taken = 0;
    return push(piece);
  };
  // Node would read the rest of a body that nobody takes, chunk by chunk.
  const keepsAlive = response.shouldKeepAlive;
  response.shouldKeepAlive = false;
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      response.shouldKeepAlive = keepsAlive;
      flush();
      return push(null);
    }
    if (chunk.length >= SMALL_BYTES) {
      flush();
      return push(chunk);
    }
    onSmall();
    let mayGoOn = true;
    if (taken + chunk.length > joined.length) {
      mayGoOn = flush();
      joined = Buffer.allocUnsafe(JOINED_BYTES);
    }
    chunk.copy(joined, taken);
    taken += chunk.length;
    flushing ??= setImmediate(flush);
    return mayGoOn;
  };
}
