import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

interface Pushed {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A push service on this machine: it keeps what it gets, and answers 201 unless told otherwise. */
export class FakePushService {
  readonly pushed: Pushed[] = [];
  status = 201;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#take(request, response));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '', headers } = request;
    const body = await buffer(request);
    response.writeHead(this.status).end();
    this.pushed.push({ path, headers, body });
  }

  static async start(): Promise<FakePushService> {
    const server = createServer({ keepAliveTimeout: 0 }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FakePushService(server);
  }

  /** The address of one browser. */
  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** The push with this number, from 0, once it has come. */
  async nth(number: number): Promise<Pushed> {
    const until = performance.now() + 10_000;
    for (;;) {
      const found = this.pushed[number];
      if (found) return found;
      if (performance.now() > until) throw new Error(`Only ${this.pushed.length} pushes came.`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
