import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './programs.ts';

/** A message to break: its first bytes still arrive. */
interface Cut {
  readonly start: string;
  readonly side: 'request' | 'answer';
  readonly afterBytes: number;
  times: number;
}

/** One connection whose turn it is to break. */
interface Breaking {
  readonly side: Cut['side'];
  left: number;
}

/** A proxy that loses answers, breaks connections, or goes down when a test says so. */
export class LossyProxy {
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  #wanted: Cut | null = null;
  #isFrozen = false;
  /** Connections made, and requests or answers lost. */
  connections = 0;
  lost = 0;

  private constructor(target: URL, port: number) {
    this.#target = target;
    this.#port = port;
    this.#server = createServer((client) => this.#carry(client));
  }

  static async open(target: string): Promise<LossyProxy> {
    // One that nobody else is given while it is down.
    const proxy = new LossyProxy(new URL(target), await freePort());
    await proxy.up();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Lets the next `times` requests that start with `start` arrive, then breaks the connection instead of answering. */
  loseAnswersTo(start: string, times = 1): void {
    this.breakIn('answer', start, 0, times);
  }

  /** Breaks the connection of the next requests that start with `start` after `afterBytes` bytes of that side. */
  breakIn(side: Cut['side'], start: string, afterBytes: number, times = 1): void {
    this.#wanted = { start, side, afterBytes, times };
  }

  /** Listens, always at the same port. */
  async up(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  /** Breaks open connections and refuses new ones. */
  async down(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Holds everything back from now on, silently. */
  freeze(): void {
    this.#isFrozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Passes on the data that it held back. */
  thaw(): void {
    this.#isFrozen = false;
    for (const socket of this.#sockets) socket.resume();
  }

  #carry(client: Socket): void {
    this.connections += 1;
    const server = connect(Number(this.#target.port), this.#target.hostname);
    if (this.#isFrozen) for (const socket of [client, server]) socket.pause();
    let breaking: Breaking | null = null;
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
      breaking ??= this.#takes(chunk);
      if (breaking?.side !== 'request') server.write(chunk);
      else if (this.#breaks(breaking, chunk, server)) client.resetAndDestroy();
    });
    server.on('data', (chunk) => {
      if (breaking?.side !== 'answer') client.write(chunk);
      else if (this.#breaks(breaking, chunk, client)) client.resetAndDestroy();
    });
  }

  /** Passes on the bytes that still may pass. True when the connection breaks here and the rest is lost. */
  #breaks(breaking: Breaking, chunk: Buffer, to: Socket): boolean {
    const passed = chunk.subarray(0, breaking.left);
    breaking.left -= passed.length;
    if (passed.length > 0) to.write(passed);
    if (passed.length === chunk.length) return false;
    this.lost += 1;
    return true;
  }

  #takes(chunk: Buffer): Breaking | null {
    const wanted = this.#wanted;
    if (!wanted || wanted.times === 0 || !chunk.toString('latin1').startsWith(wanted.start)) {
      return null;
    }
    wanted.times -= 1;
    return { side: wanted.side, left: wanted.afterBytes };
  }
}
