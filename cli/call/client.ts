import type { IncomingMessage } from 'node:http';
import type { Home } from '../../daemon/home.ts';
import { readRecord } from '../../daemon/record.ts';
import { parseExact, stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { isAlive } from '../../shared/host/processes.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { HttpCaller, lowerCased, type Target } from '../../clients/typescript/call/http-caller.ts';
import { requestOf } from '../../clients/typescript/call/request.ts';
import type { Caller, CallerOptions } from '../../clients/typescript/core/caller.ts';
import { sleep } from '../../clients/typescript/core/clock.ts';
import { ENDPOINTS } from '../../clients/typescript/generated/endpoints.ts';
import { resolveConnection, type Connection } from '../../clients/typescript/node/connection.ts';
import { nodeTransport, type NodeAnswer } from '../../clients/typescript/node/node-transport.ts';
import type { Answer, Input, OperationName } from './answers.ts';
import { asCliError, badAnswer, CliError, failureOf, lostAnswer } from '../errors.ts';

/** Without a signal, Ctrl-C doesn't stop a call: an ack under way should finish. */
export interface CallOptions extends CallerOptions {
  /** Names one of several writes by the same command; each gets its own idempotency key. */
  readonly step?: string;
  /** Nothing depends on it: a command that retries its calls tries this one once. */
  readonly isOptional?: true;
}

/** Calls an operation; throws an error answer as `CallError`. Writes carry a fresh Idempotency-Key. */
export type Call = <N extends OperationName>(
  operation: N,
  input: Input<N>,
  options?: Omit<CallOptions, 'query' | 'body' | 'bytes'>,
) => Promise<Answer<N>>;

/** The one client between the CLI and a daemon or gateway. */
export interface Client extends Caller {
  readonly call: Call;
  /** Calls what isn't an operation: returns the parsed answer, which the caller checks. */
  send(method: string, path: string, options?: CallOptions): Promise<unknown>;
  /** Returns the raw answer whatever its status, for streams and `svc api`. */
  raw(method: string, path: string, options?: CallOptions): Promise<IncomingMessage>;
  /** The key this client sends. */
  readonly apiKey: string;
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

/** How long a starting daemon gets before it must listen. */
const STARTING_MS = 3000;
const STARTING_PAUSE_MS = 25;
const RETRY_PAUSE_MS = 100;

/** The request of an operation, for those who send it themselves. */
export function operationRequest<N extends OperationName>(operation: N, input: Input<N>) {
  return requestOf(ENDPOINTS[operation], input, stringifyExact);
}

/** Calls operations over a client's `send`. */
export function operationCalls(client: Pick<Client, 'send'>): Call {
  return async <N extends OperationName>(
    operation: N,
    input: Input<N>,
    options: CallOptions = {},
  ) => {
    const { method, path, options: request } = operationRequest(operation, input);
    const headers = { ...request.headers, ...options.headers };
    const answer = await client.send(method, path, { ...request, ...options, headers });
    return checkedAnswer<N>(answer);
  };
}

/** What an operation answered: an object, or null for nothing. Its members are as the server's release has them. */
export function checkedAnswer<N extends OperationName>(answer: unknown): Answer<N> {
  if (answer === null || isObject(answer)) return answer as Answer<N>;
  throw badAnswer("The answer isn't one that svc gives.");
}

interface Tries {
  /** The call may have arrived before its connection broke. */
  lost: boolean;
  readonly startingUntil: number;
}

/** Calls the daemon over its socket, or a gateway. */
export class HttpClient implements Client {
  readonly call = operationCalls(this);
  readonly #options: ClientOptions;
  readonly #caller: HttpCaller<NodeAnswer>;
  #connection: Connection;
  #warned = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#connection = this.#resolve();
    this.#caller = new HttpCaller({
      find: () => this.#target(),
      name: 'svc',
      agent: options.env['SVC_AGENT'],
      errorOf: failureOf,
      note: options.warn,
      json: { parse: parseExact, stringify: stringifyExact },
    });
  }

  get apiKey(): string {
    return this.#connection.apiKey;
  }

  get gateway(): URL | null {
    return this.#connection.gateway;
  }

  send(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    return this.#tried(method, options, (keyed) => this.#caller.send(method, path, keyed));
  }

  async raw(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const send = (keyed: CallOptions) => this.#caller.open(method, path, keyed);
    return (await this.#tried(method, options, send)).message;
  }

  /** Waits for a daemon that's starting, and repeats a call once whose connection broke. */
  async #tried<T>(
    method: string,
    options: CallOptions,
    send: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const headers = lowerCased(options.headers);
    // All tries share one key, so a repeat after a lost answer has one effect.
    if (!isRead(method)) headers['idempotency-key'] ??= crypto.randomUUID();
    const { signal = new AbortController().signal } = options;
    const tries = { lost: false, startingUntil: Date.now() + STARTING_MS };
    for (;;) {
      try {
        return await send({ ...options, headers });
      } catch (error) {
        if (signal.aborted) throw error;
        await sleep(this.#pauseAfter(asCliError(error), tries), signal);
      }
    }
  }

  /** How long to wait before the next try; throws if another won't help. */
  #pauseAfter(failed: unknown, tries: Tries): number {
    // Only a connection that broke, or found nobody, has a cause.
    if (!(failed instanceof CliError) || !failed.cause || !failed.retryable) throw failed;
    if (failed.sent) {
      if (tries.lost) throw failed;
      tries.lost = true;
      return RETRY_PAUSE_MS;
    }
    if (this.#isStarting() && Date.now() < tries.startingUntil) return STARTING_PAUSE_MS;
    throw tries.lost ? lostAnswer(failed.message, failed.hint) : failed;
  }

  #resolve(): Connection {
    const { home, env, profile, connection } = this.#options;
    try {
      return connection ?? resolveConnection(home, env, profile);
    } catch (error) {
      throw asCliError(error);
    }
  }

  #target(): Target<NodeAnswer> {
    // The daemon's first start creates the key while a call waits for it.
    if (this.apiKey === '') this.#connection = this.#resolve();
    const send = nodeTransport(this.gateway ?? this.#options.home.socketPath);
    return {
      ...this.#connection,
      transport: async (exchange) => {
        const answer = await send(exchange);
        this.#compareVersion(answer.header('x-service-version'));
        return answer;
      },
    };
  }

  #isStarting(): boolean {
    if (this.gateway !== null) return false;
    const record = readRecord(this.#options.home.daemonFile);
    return record?.state === 'starting' && isAlive(record.pid);
  }

  #compareVersion(theirs: string | null): void {
    if (this.#warned || theirs === null || theirs === VERSION) return;
    this.#warned = true;
    const other = this.gateway === null ? 'The daemon' : 'The gateway';
    const advice = other === 'The daemon' ? ' Restart it with: svc down && svc up' : '';
    this.#options.warn(`${other} is version ${theirs}, but this command is ${VERSION}.${advice}`);
  }
}

/** Whether a call with this method changes nothing. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
