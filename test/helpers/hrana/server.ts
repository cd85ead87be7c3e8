import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer, json } from 'node:stream/consumers';
import type { FrameRange } from '../../../gateway/replica/log-file.ts';
import { HranaDatabase, noCounters, type DatabaseOptions } from './database.ts';
import { Faults, type FaultChange } from './faults.ts';
import { ProtocolError, StreamExpired, type Pipeline } from './protocol.ts';
import type { Counters } from './stream.ts';
import type { SyncSource } from './sync-source.ts';

export interface HranaOptions extends Partial<DatabaseOptions> {
  /** The databases' folder; each has its own folder in it. */
  readonly folder: string;
  /** 0 for any. */
  readonly port?: number;
  /** What clients must show as bearer. */
  readonly token?: string;
  /** A database is made when it is first used, or by `POST {url}/v1/namespaces/{name}/create` alone. */
  readonly create?: 'auto' | 'api';
}

const DEFAULTS: DatabaseOptions = {
  streamIdleMs: 10_000,
  lockWaitMs: 5000,
  transactionMaxMs: 5000,
  replication: false,
};
const NAME = /^[A-Za-z0-9][\w-]{0,127}$/;

/** What a request is answered with; a string goes out as plain text. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly hasCommitted?: boolean;
}

/** A libSQL server for tests, over HTTP. */
export class HranaServer {
  readonly faults = new Faults();
  readonly #options: HranaOptions;
  readonly #databases = new Map<string, HranaDatabase>();
  readonly #server: Server;
  #isStopped = false;

  constructor(options: HranaOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#options.port ?? 0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The URL of a database, for the client: it resolves paths against it. A replica's `syncUrl` has no slash at the end. */
  urlOf(name: string): string {
    return `${this.url}/${name}/`;
  }

  /** Of a database, since it was first used or `resetCounters`. */
  counters(name: string): Counters {
    return { ...(this.#databases.get(name)?.counters ?? noCounters()) };
  }

  /** Of a database: streams that were not ended. */
  openStreams(name: string): number {
    return this.#databases.get(name)?.openStreams ?? 0;
  }

  resetCounters(): void {
    for (const { counters } of this.#databases.values()) Object.assign(counters, noCounters());
  }

  /** As if no stream had been used for long. Those with a request under way go on. */
  expireStreams(): void {
    for (const database of this.#databases.values()) database.expireStreams();
  }

  /** With replication, stopping ends the served generation: only a server in a separate process can be restarted. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.faults.resume();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    for (const database of this.#databases.values()) database.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').slice(1).split('/');
    if (path[0] === '-') return send(response, await this.#control(request, path[1]));
    const fate = await this.faults.fate();
    if (fate === 'cut' || this.#isStopped) return cut(response);
    if (fate !== 'work') return send(response, failed(fate, 'The server is away'));
    const answer = await this.#answer(request, path).catch(refusal);
    if (this.faults.drops(answer.hasCommitted === true)) return cut(response);
    send(response, answer);
  }

  /** For tests whose server is a separate process. */
  async #control(request: IncomingMessage, what = ''): Promise<Answer> {
    if (what === 'counters') {
      const names = [...this.#databases.keys()];
      return done(Object.fromEntries(names.map((name) => [name, this.counters(name)])));
    }
    if (what === 'faults') this.faults.change((await json(request)) as FaultChange);
    else if (what === 'expire') this.expireStreams();
    else if (what === 'reset') this.resetCounters();
    else return failed(404, 'No such control');
    return done({});
  }

  async #answer(request: IncomingMessage, path: readonly string[]): Promise<Answer> {
    const { token } = this.#options;
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      return failed(401, 'Authentication failed: the bearer token is not the right one');
    }
    const [name = '', ...rest] = path;
    if (name === 'v1') return this.#create(request, rest);
    if (!NAME.test(name)) return failed(400, `Invalid namespace`);
    const database = this.#database(name);
    if (!database) return failed(404, `Namespace \`${name}\` doesn't exist`);
    const route = `${request.method} ${rest.join('/')}`;
    if (route === 'GET v2' || route === 'GET v3') return done('Hrana over HTTP');
    if (route === 'POST v2/pipeline' || route === 'POST v3/pipeline') {
      const { body, hasCommitted } = await database.run((await json(request)) as Pipeline);
      return { status: 200, body, hasCommitted };
    }
    return synced(database, rest) ?? failed(404, 'Not found');
  }

  async #create(request: IncomingMessage, path: readonly string[]): Promise<Answer> {
    const [kind, name = '', verb, ...more] = path;
    const isIt = kind === 'namespaces' && verb === 'create' && more.length === 0;
    if (request.method !== 'POST' || !isIt) return failed(404, 'Not found');
    await buffer(request);
    if (!NAME.test(name)) return failed(400, 'Invalid namespace');
    if (this.#exists(name)) return failed(400, `Namespace \`${name}\` already exists`);
    this.#open(name);
    return done({});
  }

  #database(name: string): HranaDatabase | null {
    const known = this.#databases.get(name);
    if (known) return known;
    return this.#options.create !== 'api' || this.#exists(name) ? this.#open(name) : null;
  }

  #exists(name: string): boolean {
    return this.#databases.has(name) || existsSync(join(this.#options.folder, name));
  }

  #open(name: string): HranaDatabase {
    const options = { ...DEFAULTS, ...this.#options };
    const database = new HranaDatabase(join(this.#options.folder, name), options);
    this.#databases.set(name, database);
    return database;
  }
}

/** libSQL's sync protocol. Null if the path isn't part of it, or without replication. */
function synced({ source }: HranaDatabase, path: readonly string[]): Answer | null {
  const [what, ...numbers] = path;
  const [generation, from = 0, to = 0] = numbers.map(Number);
  if (!source) return null;
  if (what === 'info') return done({ current_generation: source.generation });
  if (generation !== source.generation) return null;
  if (what === 'export') return done(source.base());
  const isRange = what === 'sync' && from > 0 && to > from;
  return isRange ? framesOf(source, { from, to }) : null;
}

function framesOf(source: SyncSource, range: FrameRange): Answer {
  const frames = source.frames(range);
  return frames ? done(frames) : { status: 400, body: { generation: source.generation } };
}

function refusal(error: unknown): Answer {
  if (error instanceof ProtocolError) return { status: 400, body: error.message };
  if (error instanceof StreamExpired) {
    return { status: 400, body: { message: error.message, code: error.code } };
  }
  if (error instanceof SyntaxError) return { status: 400, body: error.message };
  return failed(500, String(error));
}

function done(body: unknown): Answer {
  return { status: 200, body };
}

function failed(status: number, error: string): Answer {
  return { status, body: { error } };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  const isPlain = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = isPlain ? body : JSON.stringify(body);
  const type = Buffer.isBuffer(body) ? 'application/octet-stream' : 'text/plain';
  response.writeHead(status, {
    'content-type': isPlain ? type : 'application/json',
    'content-length': Buffer.byteLength(bytes),
  });
  response.end(bytes);
}

function cut(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/**
 * A libSQL server in this process: Hrana 2 and 3 over HTTP, in JSON, over real databases. Database `name` has the URL
 * `urlOf(name)`. libSQL's client resolves `v2/pipeline` against it, so a URL with a path must end with a slash, or the
 * name is lost. Where the protocol leaves an answer open, this one answers like sqld.
 */
export async function startHrana(options: HranaOptions): Promise<HranaServer> {
  const server = new HranaServer(options);
  await server.listen();
  return server;
}
