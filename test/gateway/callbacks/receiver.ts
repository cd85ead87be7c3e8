import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { buffer } from 'node:stream/consumers';

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A receiver of callbacks on this machine, with a count of the connections that it got. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** In HTTP; a receiver of bytes leaves it empty. */
  readonly received: readonly Received[];
  readonly sockets: readonly Socket[];
  open(): number;
  close(): Promise<void>;
}

/** Reads each request and then answers it with `answer`. */
export function httpReceiver(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { url = '', headers } = request;
    void buffer(request).then((body) => {
      received.push({ path: url, headers, body: body.toString() });
      return answer(response, request);
    });
  });
  return listen(server, received);
}

/** Does with each connection what no HTTP server would. */
export function rawReceiver(serve: (socket: Socket) => void): Promise<Receiver> {
  const server = createTcpServer((socket) => {
    serve(socket);
    // A socket that nobody reads does not see the end.
    socket.resume();
  });
  return listen(server, []);
}

async function listen(server: Server, received: Received[]): Promise<Receiver> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    sockets,
    open: () => sockets.filter((socket) => !socket.destroyed).length,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
