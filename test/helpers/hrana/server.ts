import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { FrameRange } from '../../../gateway/replica/log-file.ts';
import { ConnectionSlots } from './connection-slots.ts';
import { HranaDatabase, noCounters, type DatabaseOptions } from './database.ts';
import { Faults, type FaultChange } from './faults.ts';
import { NamespaceConfig, saveConfig } from './namespace-config.ts';
import { ProtocolError, StreamExpired, TooManyRequests, type Pipeline } from './protocol.ts';
import type { Counters } from './stream.ts';
import { Streams } from './streams.ts';
import type { SyncSource } from './sync-source.ts';

interface ServerOptions extends DatabaseOptions {
  /** A stream that is not used for so long is rolled back and ended. */
  readonly streamIdleMs: number;
  /** Of all databases together. */
  readonly maxConcurrentConnections: number;
  /** Databases that are open at the same time. */
  readonly maxActiveNamespaces: number;
}

export interface HranaOptions extends Partial<ServerOptions> {
  /** The databases' folder; each has its own folder in it. */
  readonly folder: string;
  /** 0 for any. */
  readonly port?: number;
  /** What clients must show as bearer. */
  readonly token?: string;
  /** A database is made when it is first used, or by `POST {url}/v1/namespaces/{name}/create` alone. */
  readonly create?: 'auto' | 'api';
}

/** sqld's, commit f8fb14f. */
const DEFAULTS: ServerOptions = {
  // `EXPIRATION` in `libsql-server/src/hrana/http/stream.rs`.
  streamIdleMs: 10_000,
  // `TXN_TIMEOUT` in `libsql-server/src/connection/mod.rs`.
  transactionMaxMs: 5000,
  // The options of the command: `Cli` in `libsql-server/src/main.rs`.
  maxConcurrentConnections: 128,
  maxConcurrentRequests: 128,
  maxActiveNamespaces: 100,
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
  readonly #options: HranaOptions & ServerOptions;
  /** Those that are open, the one that was used last at the end. */
  readonly #databases = new Map<string, HranaDatabase>();
  readonly #counters = new Map<string, Counters>();
  readonly #streams: Streams;
  readonly #slots: ConnectionSlots;
  readonly #server: Server;
  #isStopped = false;

  constructor(options: HranaOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#streams = new Streams(this.#options.streamIdleMs);
    this.#slots = new ConnectionSlots(this.#options.maxConcurrentConnections);
    // A connection that the server closes just before it is used again looks like trouble.
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
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
    return { ...(this.#counters.get(name) ?? noCounters()) };
  }

  /** Of a database: streams that were not ended. */
  openStreams(name: string): number {
    return this.#streams.countOf(name);
  }

  resetCounters(): void {
    for (const counters of this.#counters.values()) Object.assign(counters, noCounters());
  }

  /** As if no stream had been used for long. Those with a request under way go on. */
  expireStreams(): void {
    this.#streams.expireAll();
  }

  /** With replication, stopping ends the served generation: only a server in a separate process can be restarted. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.faults.resume();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    this.#slots.close();
    await closed;
    this.#streams.close();
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
      const names = [...this.#counters.keys()];
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
    if (name === 'v1') return this.#administer(request, rest);
    if (!NAME.test(name)) return failed(400, `Invalid namespace`);
    const database = this.#database(name);
    if (!database) return missing(name);
    const route = `${request.method} ${rest.join('/')}`;
    if (route === 'GET v2' || route === 'GET v3') return done('Hrana over HTTP');
    if (route === 'POST v2/pipeline' || route === 'POST v3/pipeline') {
      const { body, hasCommitted } = await this.#streams.run(
        database,
        (await json(request)) as Pipeline,
      );
      return { status: 200, body, hasCommitted };
    }
    return synced(database, rest) ?? failed(404, 'Not found');
  }

  /** The admin API: `libsql-server/src/http/admin/mod.rs`, commit f8fb14f. */
  async #administer(request: IncomingMessage, path: readonly string[]): Promise<Answer> {
    const [kind, name = '', verb, ...more] = path;
    const isIt = kind === 'namespaces' && more.length === 0;
    if (request.method !== 'POST' || !isIt) return failed(404, 'Not found');
    if (!NAME.test(name)) return failed(400, 'Invalid namespace');
    if (verb === 'create') return this.#create(request, name);
    if (verb !== 'checkpoint') return failed(404, 'Not found');
    await this.#databases.get(name)?.checkpoint();
    return done({});
  }

  async #create(request: IncomingMessage, name: string): Promise<Answer> {
    if (!request.headers['content-type']?.startsWith('application/json')) {
      return { status: 415, body: 'Expected request with `Content-Type: application/json`' };
    }
    const config = NamespaceConfig.safeParse(await json(request));
    if (!config.success) return { status: 422, body: config.error.message };
    if (this.#exists(name)) return failed(400, `Namespace \`${name}\` already exists`);
    saveConfig(join(this.#options.folder, name), config.data);
    this.#open(name);
    return done({});
  }

  /** Null if there is none, or, at times, none yet: see `#makeRoom`. */
  #database(name: string): HranaDatabase | null {
    const known = this.#databases.get(name);
    if (known) {
      this.#databases.delete(name);
      this.#databases.set(name, known);
      return known;
    }
    if (this.#options.create === 'api' && !this.#exists(name)) return null;
    const { database, hasEvicted } = this.#open(name);
    return hasEvicted ? null : database;
  }

  #exists(name: string): boolean {
    return this.#databases.has(name) || existsSync(join(this.#options.folder, name));
  }

  #open(name: string): { readonly database: HranaDatabase; readonly hasEvicted: boolean } {
    const counters = this.#counters.get(name) ?? noCounters();
    this.#counters.set(name, counters);
    const folder = join(this.#options.folder, name);
    const parts = { name, folder, slots: this.#slots, counters };
    const database = new HranaDatabase(parts, this.#options);
    const hasEvicted = this.#makeRoom();
    this.#databases.set(name, database);
    return { database, hasEvicted };
  }

  /**
   * Closes a database if too many are open, as the cache in `NamespaceStore::new` does
   * (`libsql-server/src/namespace/store.rs`, commit f8fb14f). sqld closes one that is seldom used, often the new one; this
   * server closes the one that was used longest ago.
   *
   * In sqld, a request whose database is closed under it gets a 404 (`NamespaceStore::with`). Here, every request that
   * opens one database too many gets it once. Streams of a closed database go on and keep their lock. The database knows
   * nothing of that lock when it's opened again, so its writers get SQLITE_BUSY: in sqld after 100 ms
   * (`Connection::open` in `libsql-sys/src/connection.rs`), here at once.
   *
   * With replication, all databases stay open, because closing one would end the served generation.
   */
  #makeRoom(): boolean {
    const { maxActiveNamespaces, replication } = this.#options;
    const [oldest] = this.#databases.values();
    if (!oldest || replication || this.#databases.size < maxActiveNamespaces) return false;
    this.#databases.delete(oldest.name);
    oldest.close();
    return true;
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
  // As `IntoResponse for &Error` in `libsql-server/src/error.rs`, commit f8fb14f.
  if (error instanceof TooManyRequests) return failed(429, error.message);
  if (error instanceof SyntaxError) return { status: 400, body: error.message };
  return failed(500, String(error));
}

function done(body: unknown): Answer {
  return { status: 200, body };
}

function failed(status: number, error: string): Answer {
  return { status, body: { error } };
}

function missing(name: string): Answer {
  return failed(404, `Namespace \`${name}\` doesn't exist`);
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
