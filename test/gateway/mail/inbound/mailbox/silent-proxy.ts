import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A line to a server that goes dead: connections stay open and nothing passes any more, as behind a router that forgot them.
 * Or it breaks over certain bytes.
 */
export class SilentProxy {
  readonly #targetPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isSilent = false;
  connections = 0;
  /** The server's side breaks a connection that is to carry this; nothing when it is empty. */
  breaksOn = '';

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((client) => this.#carry(client));
  }

  static async open(targetPort: number): Promise<SilentProxy> {
    const proxy = new SilentProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Swallows everything on the connections that are open. New ones are carried. */
  silence(): void {
    for (const socket of this.#sockets) {
      socket.removeAllListeners('data');
      socket.resume();
    }
  }

  /** Carries nothing on new connections either. */
  set isSilent(isSilent: boolean) {
    this.#isSilent = isSilent;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry(client: Socket): void {
    this.connections += 1;
    const server = connect(this.#targetPort, '127.0.0.1');
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      if (this.#isSilent) socket.resume();
      else socket.on('data', (chunk) => this.#pass(chunk, other));
    }
  }

  #pass(chunk: Buffer, other: Socket): void {
    if (this.breaksOn !== '' && chunk.includes(this.breaksOn)) other.destroy();
    else other.write(chunk);
  }
}
