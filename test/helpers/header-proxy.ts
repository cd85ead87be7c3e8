import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Adds headers to requests, for clients that can't send them. It replaces its own name in Host and Origin with the
 * server's, and passes other names on unchanged.
 */
export class HeaderProxy {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(target: string, headers: Readonly<Record<string, string>>) {
    const to = new URL(target);
    const server = createServer((incoming, outgoing) => {
      const own = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const sent = request(
        {
          host: to.hostname,
          port: to.port,
          method: incoming.method,
          path: incoming.url,
          headers: { ...renamed(incoming.headers, own.host, to.host), ...headers },
        },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          outgoing.flushHeaders();
          answer.pipe(outgoing);
        },
      );
      sent.on('error', () => outgoing.destroy());
      outgoing.on('close', () => sent.destroy());
      incoming.pipe(sent);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new HeaderProxy(server);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

function renamed(headers: IncomingHttpHeaders, from: string, to: string): IncomingHttpHeaders {
  const { host, origin } = headers;
  return {
    ...headers,
    ...(host === from && { host: to }),
    ...(origin === `http://${from}` && { origin: `http://${to}` }),
  };
}
