import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './programs.ts';

/**
 * `open` passes everything. `silent` takes connections and loses every byte; `mute` loses the answers only, and `head`
 * what comes after the head of an answer. What lost a byte stays dead afterwards, as behind a router that forgot it.
 * `late` delays each way by `LATE_MS`. `refused` breaks everything. A number is what a proxy without a gateway answers.
 */
export type Fault = 'open' | 'silent' | 'mute' | 'head' | 'late' | 'refused' | 502 | 503 | 504;

const LATE_MS = 2_000;

interface Carried {
  readonly client: Socket;
  readonly server: Socket;
  /** It has lost bytes. */
  isDead: boolean;
}

/** The line to a server, which breaks as a test says. It has one address for its whole life. */
export class FaultyLine {
  readonly url: string;
  readonly #target: URL;
  readonly #port: number;
  readonly #carried = new Set<Carried>();
  #server: Server | null = null;
  #fault: Fault = 'open';
  /** Clients whose server has left, and that don't know. */
  readonly #left = new Set<Socket>();
  /** Requests that were sent into a line that isn't open, by their first line. */
  readonly lost: string[] = [];
  /** Connections made so far. */
  connections = 0;

  private constructor(target: string, port: number) {
    this.#target = new URL(target);
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async to(target: string): Promise<FaultyLine> {
    const line = new FaultyLine(target, await freePort());
    await line.be('open');
    return line;
  }

  /** From now on it's like this, also for connections that are open. */
  async be(fault: Fault): Promise<void> {
    this.#fault = fault;
    if (fault === 'refused') return this.close();
    // A proxy ends what it can't carry on.
    if (typeof fault === 'number') this.#cut();
    if (this.#server) return;
    const server = createServer((client) => this.#take(client));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    const closed = new Promise<void>((resolve) => {
      if (server) server.close(() => resolve());
      else resolve();
    });
    this.#cut();
    await closed;
  }

  #cut(): void {
    for (const { client, server } of this.#carried) {
      client.resetAndDestroy();
      server.destroy();
    }
    for (const client of this.#left) client.destroy();
    this.#left.clear();
  }

  #isSilent({ isDead }: Carried): boolean {
    return isDead || this.#fault === 'silent' || this.#fault === 'mute';
  }

  #take(client: Socket): void {
    this.connections += 1;
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const carried: Carried = { client, server, isDead: false };
    this.#carried.add(carried);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#carried.delete(carried);
        // A dead line doesn't carry the end of a connection either.
        if (socket === client || !this.#isSilent(carried)) other.destroy();
        else this.#left.add(client);
      });
    }
    client.on('data', (bytes: Buffer) => this.#pass(carried, server, bytes));
    server.on('data', (bytes: Buffer) => this.#pass(carried, client, bytes));
  }

  #pass(carried: Carried, to: Socket, bytes: Buffer): void {
    const fault = this.#fault;
    const isAnswer = to === carried.client;
    if (!isAnswer && fault !== 'open') {
      this.lost.push(bytes.toString('latin1').split('\r\n')[0] ?? '');
    }
    if (typeof fault === 'number') {
      if (!isAnswer) carried.client.end(pageOf(fault));
      return;
    }
    if (carried.isDead) return;
    const passed = passedOf(fault, bytes, isAnswer);
    carried.isDead = passed.length < bytes.length;
    if (fault === 'late') setTimeout(() => to.write(passed), LATE_MS);
    else if (passed.length > 0) to.write(passed);
  }
}

function passedOf(fault: Fault, bytes: Buffer, isAnswer: boolean): Buffer {
  if (fault === 'silent' || (fault === 'mute' && isAnswer)) return bytes.subarray(0, 0);
  if (fault !== 'head' || !isAnswer) return bytes;
  const end = bytes.indexOf('\r\n\r\n');
  return bytes.subarray(0, end < 0 ? 0 : end + 4);
}

/** What a proxy says in place of the server behind it. */
function pageOf(status: number): string {
  return [
    `HTTP/1.1 ${status} Trouble`,
    'content-type: text/html',
    'connection: close',
    'content-length: 12',
    '',
    '<h1>Hm.</h1>',
  ].join('\r\n');
}
