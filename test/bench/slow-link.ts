import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A network between two places: what goes in at one end comes out at the other after half a round trip. */
export class SlowLink {
  readonly url: string;
  /** From here on. */
  roundTripMs: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, url: string, roundTripMs: number) {
    this.roundTripMs = roundTripMs;
    this.#server = server;
    this.url = url;
  }

  /** To this address over http, with this round-trip time. */
  static async open(target: string, roundTripMs: number): Promise<SlowLink> {
    const { hostname, port } = new URL(target);
    const server = createServer((near) => {
      const far = connect({ host: hostname, port: Number(port), noDelay: true });
      near.setNoDelay(true);
      link.#join(near, far);
      link.#join(far, near);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: own } = server.address() as AddressInfo;
    const link = new SlowLink(server, `http://127.0.0.1:${own}`, roundTripMs);
    return link;
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    const later = (what: () => void): void => {
      // A timer would cost a millisecond where there is no distance.
      if (this.roundTripMs === 0) what();
      else setTimeout(what, this.roundTripMs / 2);
    };
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
