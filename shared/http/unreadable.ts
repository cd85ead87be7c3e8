import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { invalid } from '../lib/errors.ts';
import { errorCode } from '../lib/guards.ts';
import { answerError, rawAnswer } from './answers.ts';

/** What Node's parser found, as an answer: any other fault is 400. */
const FAULTS: Readonly<Record<string, { status: number; path: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, path: 'headers', message: 'Send at most 16 KB of them.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    path: 'body',
    message: 'Send chunks with at most 16 KB of extensions.',
  },
};

const NO_REQUEST = { status: 400, path: 'request', message: 'Send HTTP/1.1 as RFC 9112 says.' };

/** Refuses requests that Node can't read or won't serve like any other: in JSON, with an X-Request-Id. */
export function answerUnreadable(server: Server): void {
  const latest = new WeakMap<Socket, ServerResponse>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    latest.set(socket, response);
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    const response = latest.get(socket);
    const hasBegun = response !== undefined && response.headersSent && !response.writableFinished;
    if (!socket.writable || hasBegun || errorCode(error) === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const { status, ...field } = FAULTS[errorCode(error) ?? ''] ?? NO_REQUEST;
    socket.end(rawAnswer(invalid(field), status));
    socket.destroySoon();
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const message = 'Send `100-continue`, or leave it out.';
    answerError(response, invalid({ path: 'Expect', message }), 417);
  });
}
