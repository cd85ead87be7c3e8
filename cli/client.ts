import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from '../daemon/home.ts';
import { parseExact, stringifyExact } from '../shared/lib/exact-json.ts';
import { isAlive } from '../shared/host/processes.ts';
import { readRecord } from '../daemon/record.ts';
import { isTlsRefusal } from '../shared/host/tls-refusal.ts';
import { staleNote } from '../shared/api/answer-marks.ts';
import { errorCode } from '../shared/lib/guards.ts';
import { VERSION } from '../shared/lib/version.ts';
import { resolveConnection, type Connection } from '../clients/typescript/node/connection.ts';
import { notListening, notTrusted } from './connection.ts';
import {
  asCliError,
  badAnswer,
  CallError,
  CliError,
  LostAnswer,
  unreachable,
  usageError,
} from './errors.ts';

export interface CallOptions {
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, with the Content-Type from `headers`. */
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names one of several writes by the same command; each gets its own idempotency key. */
  readonly step?: string;
  /** Ends the call. Without it, Ctrl-C doesn't stop the call: an ack under way should finish. */
  readonly signal?: AbortSignal;
  /** How long the other side may be silent, in milliseconds. */
  readonly timeoutMs?: number;
}

/** The one typed client between the CLI and a daemon or gateway. */
export interface Client {
  /** Returns the parsed answer; throws an error answer as `CallError`. Writes carry a fresh Idempotency-Key. */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>;
  /** Returns the raw answer whatever its status, for streams and `svc api`. */
  raw(method: string, path: string, options?: CallOptions): Promise<IncomingMessage>;
  /** The key this client sends. */
  readonly apiKey: string;
  /** Null if calls go to this machine's daemon. */
  readonly gateway: URL | null;
}

export interface ClientOptions {
  readonly home: Pick<Home, 'credentialsFile' | 'daemonFile' | 'socketPath'>;
  readonly env: NodeJS.ProcessEnv;
  readonly profile?: string | undefined;
  /** Overrides the stored profile and the environment, for sign-in and sign-out. */
  readonly connection?: Connection | undefined;
  /** Reports things such as a version mismatch, once each. */
  readonly warn: (text: string) => void;
}

const SILENCE_MS = 30_000;
/** How long a starting daemon gets before it must listen. */
const STARTING_MS = 3000;
const STARTING_PAUSE_MS = 25;
const RETRY_PAUSE_MS = 100;
/** Nothing is listening and nothing was sent, so the call can be retried. */
const NOBODY_CODES: ReadonlySet<string> = new Set([
  'ENOENT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** The connection broke after it was made, so what was sent may have arrived. */
const CUT_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

interface Tries {
  /** How many connections failed or broke. */
  broken: number;
  /** Whether the call may have arrived in one of them. */
  lost: boolean;
  readonly startingUntil: number;
}

/** Calls the daemon over its socket, or a gateway. */
export class HttpClient implements Client {
  readonly #options: ClientOptions;
  #connection: Connection;
  #hasCalled = false;
  #warned = false;
  #saidStale = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#connection = this.#resolve();
  }

  get apiKey(): string {
    return this.#connection.apiKey;
  }

  get gateway(): URL | null {
    return this.#connection.gateway;
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    const response = await this.raw(method, path, options);
    const body = parsed(await readText(response, options.signal));
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) {
      if (body === undefined) throw badAnswer("The answer isn't JSON.");
      return body;
    }
    const requestId = response.headers['x-request-id'];
    throw new CallError(status, body, typeof requestId === 'string' ? requestId : null);
  }

  async raw(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const { refusal, warning } = this.#connection;
    if (refusal) throw asCliError(refusal);
    if (warning !== undefined && !this.#hasCalled) this.#options.warn(warning);
    this.#hasCalled = true;
    const headers = this.#headers(method, options);
    const body = bodyOf(options);
    const tries: Tries = { broken: 0, lost: false, startingUntil: Date.now() + STARTING_MS };
    for (;;) {
      try {
        return await this.#send(method, path, headers, body, options);
      } catch (error) {
        const { signal } = options;
        if (signal?.aborted) throw error;
        await sleep(this.#pauseAfter(error, tries), undefined, signal && { signal });
        // The daemon's first start creates the key while this waits.
        if (this.apiKey === '') this.#useNewKey(headers);
      }
    }
  }

  /** How long to wait before the next try; throws if a retry won't help. */
  #pauseAfter(error: unknown, tries: Tries): number {
    const code = errorCode(error);
    if (error instanceof CliError || code === null) throw error;
    if (isTlsRefusal(code)) throw notTrusted(this.#connection, code);
    // Node's `ERR_…` codes mean a wrong call: our own bug, shown as one.
    if (code.startsWith('ERR_')) throw error;
    if (NOBODY_CODES.has(code)) {
      if (this.#isStarting() && Date.now() < tries.startingUntil) return STARTING_PAUSE_MS;
      throw asLost(notListening(this.#connection, code), tries);
    }
    tries.broken += 1;
    tries.lost ||= CUT_CODES.has(code);
    if (tries.broken === 1) return RETRY_PAUSE_MS;
    throw asLost(unreachable(`The connection broke (${code}).`, 'Try again.'), tries);
  }

  #resolve(): Connection {
    const { home, env, profile, connection } = this.#options;
    try {
      return connection ?? resolveConnection(home, env, profile);
    } catch (error) {
      throw asCliError(error);
    }
  }

  #useNewKey(headers: Record<string, string>): void {
    this.#connection = this.#resolve();
    if (this.apiKey !== '') headers['authorization'] = `Bearer ${this.apiKey}`;
  }

  #headers(method: string, options: CallOptions): Record<string, string> {
    const agent = this.#options.env['SVC_AGENT'];
    if (agent && !/^[\u0020-\u007e\u00a0-\u00ff]+$/.test(agent)) {
      throw usageError("SVC_AGENT has characters that aren't allowed in a header.");
    }
    return {
      host: this.#connection.gateway?.host ?? 'localhost',
      accept: 'application/json',
      'user-agent': `svc/${VERSION}`,
      'x-service-version': VERSION,
      ...(this.apiKey && { authorization: `Bearer ${this.apiKey}` }),
      ...(agent && { 'x-service-agent': agent }),
      // All tries of this call share one key, so a repeat after a lost answer has one effect.
      ...(method !== 'GET' && method !== 'HEAD' && { 'idempotency-key': crypto.randomUUID() }),
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...lowerCased(options.headers),
    };
  }

  async #send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: Uint8Array | undefined,
    options: CallOptions,
  ): Promise<IncomingMessage> {
    const { gateway } = this.#connection;
    const secure = gateway?.protocol === 'https:';
    const send = secure ? (await import('node:https')).request : httpRequest;
    const timeoutMs = options.timeoutMs ?? SILENCE_MS;
    const wanted: RequestOptions = {
      ...(gateway ? tcpTarget(gateway) : { socketPath: this.#options.home.socketPath }),
      // Without it Node derives the name from the Host header, which takes 4 ms per command.
      ...(!secure && { servername: '' }),
      method,
      path: targetPath(gateway, path, options.query),
      headers: body ? { ...headers, 'content-length': String(body.byteLength) } : headers,
      timeout: timeoutMs,
      agent: false,
    };
    return new Promise((resolve, reject) => {
      const request = send(wanted, (response) => {
        this.#compareVersion(response.headers['x-service-version']);
        this.#noteStale(response.headers);
        resolve(response);
      });
      endWith(request, options.signal);
      request.on('timeout', () => request.destroy(silent(timeoutMs)));
      request.on('error', reject);
      request.end(body);
    });
  }

  #isStarting(): boolean {
    if (this.#connection.gateway !== null) return false;
    const record = readRecord(this.#options.home.daemonFile);
    return record?.state === 'starting' && isAlive(record.pid);
  }

  /** Said once: the answer may be hours old. */
  #noteStale(headers: IncomingMessage['headers']): void {
    if (this.#saidStale || headers['x-service-stale'] !== 'true') return;
    this.#saidStale = true;
    this.#options.warn(staleNote(Number(headers['x-service-replica-age'])));
  }

  #compareVersion(theirs: string | readonly string[] | undefined): void {
    if (this.#warned || typeof theirs !== 'string' || theirs === VERSION) return;
    this.#warned = true;
    const other = this.#connection.gateway === null ? 'The daemon' : 'The gateway';
    const advice = other === 'The daemon' ? ' Restart it with: svc down && svc up' : '';
    this.#options.warn(`${other} is version ${theirs}, but this command is ${VERSION}.${advice}`);
  }
}

/** Does what `signal` of a request does, but saves a millisecond. */
function endWith(request: ClientRequest, signal: AbortSignal | undefined): void {
  if (!signal) return;
  const end = () => request.destroy(new Error('Interrupted.'));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  request.once('close', () => signal.removeEventListener('abort', end));
}

function asLost(error: CliError, { lost }: Tries): CliError {
  return lost ? new LostAnswer(error.message, error.hint) : error;
}

function silent(timeoutMs: number): Error {
  return new LostAnswer(`No answer within ${timeoutMs / 1000} s.`, 'See: svc status');
}

function tcpTarget(gateway: URL): RequestOptions {
  const host = gateway.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, ...(gateway.port !== '' && { port: gateway.port }) };
}

function targetPath(gateway: URL | null, path: string, query: CallOptions['query']): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const base = gateway?.pathname.replace(/\/+$/, '') ?? '';
  const mark = path.includes('?') ? '&' : '?';
  return base + path + (search.size > 0 ? `${mark}${search.toString()}` : '');
}

function bodyOf({ body, bytes }: CallOptions): Uint8Array | undefined {
  return body === undefined ? bytes : Buffer.from(stringifyExact(body));
}

function lowerCased(headers: CallOptions['headers']): Record<string, string> {
  const pairs = Object.entries(headers ?? {});
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

async function readText(response: IncomingMessage, signal?: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    if (errorCode(error) === null || signal?.aborted) throw error;
    throw new LostAnswer('The connection broke mid-answer.', 'Try again.');
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Undefined if the text isn't JSON. */
function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
