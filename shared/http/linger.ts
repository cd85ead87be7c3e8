import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** So long, and for so many bytes, the rest of a refused body is read. */
const LINGER_MS = 2000;
const LINGER_MAX_BYTES = 16 * 1024 * 1024;
const LOOK_MS = 20;

/**
 * Lets a client read why its body was refused. A connection that is closed with something unread on it is reset, and the
 * reset overtakes the answer: a proxy that still sends would make a 502 of it. So what comes after the answer is read for
 * a moment, and dropped.
 */
export function lingerAfterRefusal(request: IncomingMessage, response: ServerResponse): void {
  response.once('prefinish', () => {
    // Node calls this, and nothing else, to close a connection behind its last answer; it may be a later one.
    if (!request.complete) request.socket.destroySoon = () => linger(request, request.socket);
  });
}

function linger(request: IncomingMessage, socket: Socket): void {
  const { bytesRead } = socket;
  const endsAt = performance.now() + LINGER_MS;
  // Node drops the bytes before anybody is told of them, so it is the socket's count that is looked at.
  const closeWhenOver = (): void => {
    const isTooMuch = socket.bytesRead - bytesRead > LINGER_MAX_BYTES;
    if (!request.complete && !isTooMuch && performance.now() < endsAt) return;
    clearInterval(looking);
    Socket.prototype.destroySoon.call(socket);
  };
  const looking = setInterval(closeWhenOver, LOOK_MS);
  socket.once('close', () => clearInterval(looking));
  // Ours is all said.
  socket.end();
  request.resume();
  closeWhenOver();
}
