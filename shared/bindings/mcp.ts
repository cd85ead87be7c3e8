import { Hono, type Context } from 'hono';
import type { Caller } from '../context.ts';
import type { Credentials, Executor } from '../executor.ts';
import { withMcpClient } from '../rules/caller.ts';
import { callerGone } from './caller-gone.ts';
import {
  credentialsOf,
  logOf,
  methodNotAllowed,
  reply,
  shownError,
  type HttpEnv,
  type OnInternalError,
} from './http.ts';
import { readJson } from './mcp-body.ts';
import { progressOf, readToolCall } from './mcp-call.ts';
import { listen } from './mcp-listen.ts';
import { Methods } from './mcp-methods.ts';
import {
  clientNameOf,
  eraOf,
  errorJson,
  idOf,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  invalidRequest,
  META_SERVER,
  META_SUBSCRIPTION,
  ProtocolError,
  readMessage,
  resultJson,
  type Era,
  type Message,
  type RequestId,
} from './mcp-protocol.ts';
import {
  callName,
  newSession,
  RunningCalls,
  SESSION_HEADER,
  sessionClient,
} from './mcp-session.ts';
import { holdCall } from './mcp-stream.ts';
import type { CallSite, McpTables } from './mcp-tables.ts';

export interface McpOptions {
  readonly serverVersion: string;
  readonly onInternal: OnInternalError;
  /** Browsers send an Origin; without this all of them are refused. */
  readonly allowedOrigin?: (origin: string) => boolean;
  /** How long a held call waits in silence before its answer becomes a stream. */
  readonly streamAfterMs?: number;
  /** How often a stream says that the call still runs. */
  readonly tickMs?: number;
  /** The least time between two notifications of the same subscription. */
  readonly pauseMs?: number;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
// Without the second header some proxies keep a stream to themselves until it ends.
const STREAM_TYPE = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
/** What begins to run for a moment is not stopped when its client leaves. */
const NEVER = new AbortController().signal;
const TEN_SECONDS_MS = 10_000;

/** MCP over HTTP. The server keeps no sessions: each request carries all it needs. Mount it at `/mcp`. */
export function mcpRoutes(
  executor: Executor,
  tables: McpTables,
  options: McpOptions,
): Hono<HttpEnv> {
  const endpoint = new Endpoint(executor, tables, options);
  const app = new Hono<HttpEnv>();
  app.post('/', (c) => endpoint.handle(c, (exchange) => endpoint.post(exchange)));
  app.all('/', (c) => endpoint.handle(c, refuseMethod));
  return app;
}

/** What is known of a request so far, for whichever answer it gets. */
interface Exchange {
  readonly c: Context<HttpEnv>;
  readonly headers: Record<string, string>;
  id: RequestId | null;
}

/** A request that may be answered, and who makes it. */
interface Accepted {
  readonly id: RequestId;
  readonly message: Message;
  readonly era: Era;
  readonly caller: Caller;
  readonly credentials: Credentials;
}

class Endpoint {
  readonly #executor: Executor;
  readonly #tables: McpTables;
  readonly #options: McpOptions;
  readonly #methods: Methods;
  readonly #running = new RunningCalls();
  readonly #serverInfo: string;

  constructor(executor: Executor, tables: McpTables, options: McpOptions) {
    this.#executor = executor;
    this.#tables = tables;
    this.#options = options;
    this.#serverInfo = JSON.stringify({ name: 'svc', version: options.serverVersion });
    this.#methods = new Methods(tables, this.#serverInfo);
  }

  /** Turns whatever `answer` throws into a JSON-RPC error. */
  async handle(
    c: Context<HttpEnv>,
    answer: (exchange: Exchange) => Promise<Response>,
  ): Promise<Response> {
    const headers = {
      'X-Request-Id': c.get('requestId'),
      'X-Service-Version': this.#options.serverVersion,
      'Cache-Control': 'no-store',
    };
    const exchange: Exchange = { c, headers, id: null };
    try {
      this.#refuseOrigin(c);
      return await answer(exchange);
    } catch (error) {
      return this.#failure(error, exchange);
    }
  }

  /** The key is checked before the body is read, and pays for it whatever the body says. */
  async post(exchange: Exchange): Promise<Response> {
    const { c, headers } = exchange;
    const credentials = credentialsOf(c);
    const caller = await this.#executor.authenticate(credentials);
    const { message, era } = await this.#read(exchange, caller);
    const { id } = message;
    if (id === null) {
      if (era === 'legacy') this.#cancel(c, message, caller);
      return reply(c, null, 202, headers);
    }
    const accepted = { id, message, era, caller, credentials };
    if (message.method === 'tools/call') return this.#call(exchange, accepted);
    if (message.method === 'subscriptions/listen' && era === 'modern') {
      return this.#listen(exchange, accepted);
    }
    const site = this.#site(caller, NEVER);
    const { members, meta } = await this.#methods.answer({ message, era, site });
    return reply(c, this.#result(accepted, members, meta), 200, {
      ...headers,
      ...JSON_TYPE,
      ...(message.method === 'initialize' && {
        [SESSION_HEADER]: newSession(clientNameOf(message)),
      }),
    });
  }

  /** Later revisions close the stream of the answer instead. */
  #cancel(c: Context<HttpEnv>, { method, params }: Message, caller: Caller): void {
    const id = idOf({ id: params['requestId'] });
    if (method === 'notifications/cancelled' && id !== null) {
      this.#running.cancel(callName(c, caller, id));
    }
  }

  #refuseOrigin(c: Context<HttpEnv>): void {
    const origin = c.req.header('origin');
    if (origin === undefined || this.#options.allowedOrigin?.(origin)) return;
    throw new ProtocolError(403, INVALID_REQUEST, 'This Origin is not allowed.');
  }

  async #read(exchange: Exchange, caller: Caller): Promise<Pick<Accepted, 'message' | 'era'>> {
    let metered = true;
    try {
      const { req, env } = exchange.c;
      const value = await readJson(env.incoming);
      exchange.id = idOf(value);
      const message = readMessage(value);
      const era = eraOf(message, {
        version: req.header('mcp-protocol-version'),
        method: req.header('mcp-method'),
        name: req.header('mcp-name'),
      });
      metered = !this.#isWait(message);
      return { message, era };
    } finally {
      if (metered) Object.assign(exchange.headers, this.#executor.meter(caller));
    }
  }

  #isWait({ method, params }: Message): boolean {
    return (
      method === 'tools/call' && this.#tables.tools.find(String(params['name']))?.pace === 'wait'
    );
  }

  #site(caller: Caller, signal: AbortSignal): CallSite {
    return { executor: this.#executor, caller, signal, onInternal: this.#options.onInternal };
  }

  async #call({ c, headers }: Exchange, accepted: Accepted): Promise<Response> {
    const { message } = accepted;
    const call = readToolCall(message, this.#tables.tools);
    const key = message.meta['svc/idempotencyKey'];
    const idempotencyKey = typeof key === 'string' ? key : undefined;
    const clientName = clientNameOf(message) ?? sessionClient(c.req.header(SESSION_HEADER));
    const caller = withMcpClient(accepted.caller, clientName, idempotencyKey);
    const run = async (signal: AbortSignal): Promise<string> => {
      const { members, meta } = await call.tool.run(call.input, this.#site(caller, signal));
      return this.#result(accepted, members, meta);
    };
    if (call.tool.pace === 'moment')
      return reply(c, await run(NEVER), 200, { ...headers, ...JSON_TYPE });
    const gone = callerGone(c.env.outgoing);
    const running =
      accepted.era === 'legacy'
        ? this.#running.run(callName(c, caller, accepted.id), gone.signal, run)
        : run(gone.signal);
    const held = await holdCall({
      answer: running.finally(() => gone.stop()),
      acceptsStream: acceptsStream(c),
      progress: progressOf(message, call),
      streamAfterMs: this.#options.streamAfterMs ?? TEN_SECONDS_MS,
      tickMs: this.#options.tickMs ?? TEN_SECONDS_MS,
    });
    if (held === null) return reply(c, null, 202, headers);
    const type = typeof held === 'string' ? JSON_TYPE : STREAM_TYPE;
    return reply(c, held, 200, { ...headers, ...type });
  }

  async #listen({ c, headers }: Exchange, accepted: Accepted): Promise<Response> {
    if (!acceptsStream(c)) {
      throw invalidRequest('The answer is an event stream: name text/event-stream in Accept.');
    }
    const { id, message, caller, credentials } = accepted;
    const subscription = `${JSON.stringify(META_SUBSCRIPTION)}:${JSON.stringify(id)}`;
    const stream = await listen({
      id,
      message,
      credentials,
      site: this.#site(caller, callerGone(c.env.outgoing).signal),
      resources: this.#tables.resources,
      closed: this.#result(accepted, [], [subscription]),
      tickMs: this.#options.tickMs ?? TEN_SECONDS_MS,
      pauseMs: this.#options.pauseMs,
    });
    return reply(c, stream, 200, { ...headers, ...STREAM_TYPE });
  }

  #result(
    { id, era }: Pick<Accepted, 'id' | 'era'>,
    members: readonly string[],
    meta: readonly string[],
  ): string {
    if (era === 'legacy') {
      return resultJson(id, meta.length === 0 ? members : [...members, metaJson(meta)]);
    }
    const server = `${JSON.stringify(META_SERVER)}:${this.#serverInfo}`;
    return resultJson(id, ['"resultType":"complete"', ...members, metaJson([server, ...meta])]);
  }

  #failure(error: unknown, { c, id, headers }: Exchange): Response {
    if (error instanceof ProtocolError) {
      return errorAnswer(c, error.status, errorJson(id, error), headers);
    }
    const shown = shownError(error, c.get('requestId'), logOf(c, this.#options.onInternal));
    const body = errorJson(id, {
      // Codes from -32768 to -32000 are spoken for: a refusal has the number of its HTTP status.
      code: shown.code === 'INTERNAL' ? INTERNAL_ERROR : shown.status,
      message: shown.line(),
      data: { ...shown.details, code: shown.code },
    });
    return errorAnswer(c, shown.status, body, { ...headers, ...shown.headers() });
  }
}

function errorAnswer(
  c: Context<HttpEnv>,
  status: number,
  body: string,
  headers: Record<string, string>,
): Response {
  return reply(c, body, status, { ...headers, ...JSON_TYPE });
}

function metaJson(members: readonly string[]): string {
  return `"_meta":{${members.join(',')}}`;
}

function acceptsStream(c: Context<HttpEnv>): boolean {
  return /text\/event-stream|\*\/\*/.test(c.req.header('accept') ?? '');
}

async function refuseMethod(): Promise<never> {
  throw methodNotAllowed(['POST']);
}
