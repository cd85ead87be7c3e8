import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mark } from './shim.ts';

/** Takes callbacks, and marks in the log of a disk which ones came. */
export class Receiver {
  readonly #server: Server;
  readonly url: string;
  /** The ids of the events. */
  readonly pushed: ReadonlySet<string>;

  private constructor(server: Server, pushed: ReadonlySet<string>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    this.pushed = pushed;
  }

  static async start(log: string): Promise<Receiver> {
    const pushed = new Set<string>();
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const event = String(request.headers['webhook-id']);
        pushed.add(event);
        mark(log, JSON.stringify({ phase: 'sent', fact: { kind: 'pushed', event } }));
        response.end('ok');
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return new Receiver(server, pushed);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
