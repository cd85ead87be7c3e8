import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { isChunked } from './small-chunks.ts';

/** How long, and how many bytes, the rest of a refused body is read. */
const LINGER_MS = 2000;
const LINGER_MAX_BYTES = 16 * 1024 * 1024;
const LOOK_MS = 20;

/**
 * Lets a client read why its body was refused. Closing a connection with unread bytes resets it, and the reset
 * overtakes the answer: a proxy that is still sending would turn it into a 502. So the bytes after the answer are read
 * for a moment and dropped.
 */
export function lingerAfterRefusal(request: IncomingMessage, response: ServerResponse): void {
  response.once('prefinish', () => {
    // Node calls only this to close a connection after its last answer, which may be a later one.
    if (!request.complete) request.socket.destroySoon = () => linger(request, request.socket);
  });
}

function linger(request: IncomingMessage, socket: Socket): void {
  const { bytesRead } = socket;
  const endsAt = performance.now() + LINGER_MS;
  // Node drops the bytes before anything is told about them, so check the socket's count.
  const closeWhenOver = (): void => {
    const isTooMuch = socket.bytesRead - bytesRead > LINGER_MAX_BYTES;
    if (!request.complete && !isTooMuch && performance.now() < endsAt) return;
    clearInterval(looking);
    Socket.prototype.destroySoon.call(socket);
  };
  const looking = setInterval(closeWhenOver, LOOK_MS);
  socket.once('close', () => clearInterval(looking));
  // Our side has sent everything.
  socket.end();
  // Nobody needs to know where a body in chunks ends, and parsing many small ones takes long.
  if (isChunked(request))
    socket
      .removeAllListeners('data')
      .on('data', () => undefined)
      .resume();
  request.resume();
  closeWhenOver();
}
