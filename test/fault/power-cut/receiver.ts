import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mark } from './shim.ts';

/** Takes callbacks, and marks in the log of a disk which ones came. */
export class Receiver {
  readonly #server: Server;
  readonly url: string;
  /** The ids of the events. */
  readonly pushed = new Set<string>();
  readonly #log: string;
  #isAway = false;

  private constructor(server: Server, log: string) {
    this.#server = server;
    this.#log = log;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    server.on('request', (request, response) => this.#take(request, response));
  }

  static async start(log: string): Promise<Receiver> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return new Receiver(server, log);
  }

  /** Accepts nothing meanwhile: the process that checks a disk also sends due pushes, but it isn't the one under test. */
  async whileAway<T>(work: () => Promise<T>): Promise<T> {
    this.#isAway = true;
    try {
      return await work();
    } finally {
      this.#isAway = false;
    }
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    request.resume().on('end', () => {
      if (this.#isAway) return void response.writeHead(503).end();
      const event = String(request.headers['webhook-id']);
      this.pushed.add(event);
      mark(this.#log, JSON.stringify({ phase: 'sent', fact: { kind: 'pushed', event } }));
      response.end('ok');
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
