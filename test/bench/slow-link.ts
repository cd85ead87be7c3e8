import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A network between two places: what goes in at one end comes out at the other after half a round trip. */
export class SlowLink {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** To this address over http, with this round-trip time. */
  static async open(target: string, roundTripMs: number): Promise<SlowLink> {
    const { hostname, port } = new URL(target);
    const server = createServer((near) => {
      const far = connect({ host: hostname, port: Number(port), noDelay: true });
      near.setNoDelay(true);
      link.#join(near, far, roundTripMs / 2);
      link.#join(far, near, roundTripMs / 2);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const link = new SlowLink(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return link;
  }

  #join(from: Socket, to: Socket, delayMs: number): void {
    this.#sockets.add(from);
    const later = (what: () => void): void => void setTimeout(what, delayMs);
    from.on('data', (bytes) => later(() => to.writable && to.write(bytes)));
    from.on('end', () => later(() => to.end()));
    from.on('error', () => to.destroy());
    from.on('close', () => this.#sockets.delete(from));
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
