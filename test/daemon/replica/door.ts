import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What is answered in place of the gateway: a status, a connection that is cut, nothing at all, or any page. */
type Trouble = number | 'cut' | 'silence' | { readonly status: number; readonly page: string };

/** Stands in front of a gateway under an address that stays, and can be shut, or get in the way. */
export class Door {
  readonly url: string;
  /** The gateway behind it. */
  target: string;
  /** Looks at the path of each request. */
  trouble: (path: string) => Trouble | null = () => null;
  /** What `GET /v1/replica` answers, as it is passed on. */
  rewrite: (body: string) => string = (body) => body;
  /** The paths that were asked for. */
  readonly asked: string[] = [];
  readonly #port: number;
  #server: Server | null;

  private constructor(server: Server, target: string) {
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.#port}`;
    this.target = target;
  }

  static async open(target: string): Promise<Door> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const door = new Door(server, target);
    server.on('request', (incoming, outgoing) => door.#pass(incoming, outgoing));
    return door;
  }

  /** Nobody answers any more, and who was talking is cut off. */
  async shut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => {
      if (server) server.close(() => resolve());
      else resolve();
    });
  }

  async reopen(): Promise<void> {
    const server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#server = server;
  }

  /** Ends the connections of the moment. */
  cut(): void {
    this.#server?.closeAllConnections();
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const path = incoming.url ?? '/';
    this.asked.push(path);
    const trouble = this.trouble(path);
    if (trouble === 'silence') return;
    if (trouble === 'cut') {
      incoming.destroy();
      return;
    }
    if (typeof trouble === 'object' && trouble !== null) {
      outgoing.writeHead(trouble.status, { 'content-type': 'text/html' }).end(trouble.page);
      return;
    }
    if (trouble !== null) {
      outgoing.writeHead(trouble, { 'content-type': 'application/json' });
      outgoing.end('{"error":{"code":"UNAVAILABLE","message":"Trouble."}}');
      return;
    }
    const { method, headers } = incoming;
    const forward = request(this.target + path, { method, headers }, (answer) => {
      answer.on('error', () => outgoing.destroy());
      if (path === '/v1/replica') void this.#passAad(answer, outgoing);
      else answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    forward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forward.destroy());
    incoming.pipe(forward);
  }

  async #passAad(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { 'content-length': _, ...headers } = answer.headers;
    const body = await text(answer);
    outgoing.writeHead(answer.statusCode ?? 502, headers).end(this.rewrite(body));
  }
}
