import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import type { Envelope } from '../../../shared/kernel/envelope.ts';

/** Lets callbacks go to receivers of this machine. */
export const LOOPBACK = CallbackAllow.parse('127.0.0.0/8');

/** A callback as it came. */
export interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly event: Envelope;
}

type Answer = (response: ServerResponse, received: Received) => void;

/** A real server that keeps what it gets and answers as it is told: 204 unless told otherwise. */
export class Receiver {
  readonly got: Received[] = [];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  readonly #held: ServerResponse[] = [];
  #answer: Answer = (response) => response.writeHead(204).end();
  #open = 0;
  /** The most that were under way at the same time. */
  mostOpen = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      this.#open += 1;
      this.mostOpen = Math.max(this.mostOpen, this.#open);
      response.on('close', () => (this.#open -= 1));
      void this.#take(request, response);
    });
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await buffer(request)).toString('utf8');
    const headers = plain(request.headers);
    const event = JSON.parse(text) as Envelope;
    const received = { path: request.url ?? '', headers, text, event };
    this.got.push(received);
    this.#answer(response, received);
    for (const look of this.#waiting) look();
  }

  static async start(port = 0): Promise<Receiver> {
    // A connection that the server closes just as a call goes out is not what is tested.
    const server = createServer({ keepAliveTimeout: 0 });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return new Receiver(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Answers from now on with a status, or as a function does. */
  answer(how: number | Answer, headers: Record<string, string> = {}): void {
    this.#answer =
      typeof how === 'number' ? (response) => response.writeHead(how, headers).end('said so') : how;
  }

  /** Holds what comes from now on, until it is let go. */
  hold(): void {
    this.#answer = (response) => this.#held.push(response);
  }

  letGo(): void {
    for (const response of this.#held.splice(0)) response.writeHead(204).end();
    this.answer(204);
  }

  /** Resolves once so many have come in all. */
  async came(count: number, withinMs = 60_000): Promise<readonly Received[]> {
    if (this.got.length < count) {
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`${this.got.length} of ${count} came`)),
          withinMs,
        );
        const look = (): void => {
          if (this.got.length < count) return;
          clearTimeout(late);
          this.#waiting.delete(look);
          resolve();
        };
        this.#waiting.add(look);
      });
    }
    return this.got;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Looks until `done` says so. */
export async function until<T>(look: () => Promise<T>, done: (value: T) => boolean): Promise<T> {
  const endsAt = performance.now() + 60_000;
  for (;;) {
    const value = await look();
    if (done(value)) return value;
    if (performance.now() > endsAt) throw new Error(`It never came: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
