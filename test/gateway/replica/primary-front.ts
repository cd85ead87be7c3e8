import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** What is answered in place of the server; `cut` breaks the connection off. */
type Answer =
  | 'cut'
  | { readonly status: number; readonly body?: unknown }
  | ((outgoing: ServerResponse) => unknown);

/** Stands in front of a libSQL server, keeps what replicas are asked of it, and may answer in its place. */
export class PrimaryFront {
  readonly url: string;
  /** Gets the part of the path after the database's name, such as `info`; null lets the server answer. Not asked for SQL. */
  answer: (what: string) => Answer | null = () => null;
  /** Such parts, other than those of SQL. */
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #target: string;

  private constructor(server: Server, target: string) {
    this.#server = server;
    this.#target = target;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (incoming, outgoing) => this.#pass(incoming, outgoing));
  }

  static async open(target: string): Promise<PrimaryFront> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new PrimaryFront(server, target);
  }

  /** How often something that begins like this was asked for. */
  count(what: string): number {
    return this.asked.filter((one) => one.startsWith(what)).length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const what = (incoming.url ?? '').split('/').slice(2).join('/');
    const isSql = what.endsWith('pipeline');
    if (!isSql) this.asked.push(what);
    const answer = isSql ? null : this.answer(what);
    if (answer === 'cut') return void incoming.socket.resetAndDestroy();
    if (typeof answer === 'function') return void answer(outgoing);
    if (answer) {
      const { status, body = {} } = answer;
      const bytes = Buffer.isBuffer(body) ? body : JSON.stringify(body);
      return void outgoing.writeHead(status, { location: '/' }).end(bytes);
    }
    const { method, headers, url = '' } = incoming;
    const forward = request(this.#target + url, { method, headers }, (came) => {
      came.pipe(outgoing.writeHead(came.statusCode ?? 502, came.headers));
    });
    forward.on('error', () => outgoing.destroy());
    incoming.pipe(forward);
  }
}
