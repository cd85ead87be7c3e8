import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A line to a server that loses answers, or goes down, when a test wants it to. */
export class LossyProxy {
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  #wanted: { readonly start: string; times: number } | null = null;
  /** Connections that were made, and answers that were lost. */
  connections = 0;
  lost = 0;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => this.#carry(client));
  }

  static async open(target: string): Promise<LossyProxy> {
    const proxy = new LossyProxy(new URL(target));
    await proxy.up();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The next requests that begin so arrive; in the place of their answers the connection breaks. */
  loseAnswersTo(start: string, times = 1): void {
    this.#wanted = { start, times };
  }

  /** Listens, again at the port it had. */
  async up(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Breaks what is open and refuses what comes. */
  async down(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #carry(client: Socket): void {
    this.connections += 1;
    const server = connect(Number(this.#target.port), this.#target.hostname);
    let loses = false;
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
    }
    client.on('data', (chunk) => {
      loses ||= this.#takes(chunk);
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (!loses) {
        client.write(chunk);
        return;
      }
      this.lost += 1;
      client.resetAndDestroy();
    });
  }

  #takes(chunk: Buffer): boolean {
    const wanted = this.#wanted;
    if (!wanted || wanted.times === 0 || !chunk.toString('latin1').startsWith(wanted.start)) {
      return false;
    }
    wanted.times -= 1;
    return true;
  }
}
