import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands for the DNS name that callers know: it leads to one gateway, and later to another. */
export class NameSwitch {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: URL;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((client) => this.#carry(client));
  }

  static async open(target: string): Promise<NameSwitch> {
    const name = new NameSwitch(target);
    await new Promise<void>((done) => name.#server.listen(0, '127.0.0.1', done));
    return name;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks the open connections, as when the old address is taken away. */
  lead(target: string): void {
    this.#target = new URL(target);
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #carry(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
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
      socket.pipe(other);
    }
  }
}
