import {
  classifyInboundRequest,
  createMcpHandler,
  type InMemoryServerEventBus,
  InMemoryTransport,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PerRequestHTTPServerTransport,
  ProtocolError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import type { Context } from 'hono';
import type { Caller } from '../../kernel/context.ts';
import type { Credentials, Executor } from '../../kernel/executor.ts';
import { callerGone } from '../caller-gone.ts';
import { QUIET_MS } from '../held-json.ts';
import {
  admittedOf,
  breakOff,
  credentialsOf,
  logOf,
  methodNotAllowed,
  reply,
  shownError,
  type HttpEnv,
} from '../http.ts';
import { argumentsOf, withArguments } from './arguments.ts';
import { challenge } from './challenge.ts';
import { clientNameOf, idOf, messageOf, readJson, takesTasks, type Message } from './body.ts';
import { hold, holdJson, sent, type ClientReply, type SdkReply } from './tasks/hold.ts';
import { writeNumbers } from './numbers.ts';
import { listen } from './tasks/listen.ts';
import { errorJson, errorOf, invalidParams, invalidRequest, RefusedRequest } from './refusal.ts';
import { LEGACY_VERSIONS, serverOf, SUPPORTED_VERSIONS, type Exchange } from './server.ts';
import { callName, newSession, RunningCalls, SESSION_HEADER, sessionClient } from './session.ts';
import type { McpOptions } from './routes.ts';
import { isWhole, type McpAddress } from '../../kernel/mcp-address.ts';
import type { CallableTool, McpTables } from './tables.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
// Without the second header, some proxies buffer a stream until it ends.
const AS_IT_COMES = { 'X-Accel-Buffering': 'no' };
const STREAM_TYPE = { 'Content-Type': 'text/event-stream', ...AS_IT_COMES };
/** A short call runs to its end even if its client leaves. */
const NEVER = new AbortController().signal;
const TEN_SECONDS_MS = 10_000;
/** Shorter than the wait that becomes a stream: `svc mcp` can only repeat a call that has no answer yet. */
const TASK_HOLD_MS = 2_500;
const INTRODUCING: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

/** A request and what we know about it so far, for any answer it gets. */
interface HttpCall {
  readonly c: Context<HttpEnv>;
  readonly headers: Record<string, string>;
  id: string | number | null;
}

/** A request that we serve, and its caller. */
interface McpCall {
  readonly message: Message;
  readonly era: Exchange['era'];
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly tables: McpTables;
  /** The headers that the SDK reads, besides the message. */
  readonly headers: Record<string, string>;
}

export class Endpoint {
  readonly #executor: Executor;
  readonly #tables: McpTables;
  readonly #options: McpOptions;
  readonly #running = new RunningCalls();
  readonly #streamAfterMs: number;
  readonly #quietMs: number;
  readonly #tickMs: number;

  constructor(executor: Executor, tables: McpTables, options: McpOptions) {
    this.#executor = executor;
    this.#tables = tables;
    this.#options = options;
    this.#streamAfterMs = options.streamAfterMs ?? QUIET_MS;
    this.#quietMs = options.tickMs ?? QUIET_MS;
    this.#tickMs = options.tickMs ?? TEN_SECONDS_MS;
  }

  /** `readOnly`: offers only the tools that change nothing. */
  post(c: Context<HttpEnv>, readOnly = false): Promise<Response> {
    return this.#handle(c, (visit) => this.#post(visit, readOnly));
  }

  refuse(c: Context<HttpEnv>): Promise<Response> {
    return this.#handle(c, () => Promise.reject(methodNotAllowed(['POST'])));
  }

  /** Turns any error of `answer` into a JSON-RPC error. */
  async #handle(
    c: Context<HttpEnv>,
    answer: (visit: HttpCall) => Promise<Response>,
  ): Promise<Response> {
    const headers = {
      'X-Request-Id': c.get('requestId'),
      'X-Service-Version': this.#options.serverVersion,
      'Cache-Control': 'no-store',
    };
    const visit: HttpCall = { c, headers, id: null };
    try {
      this.#refuseOrigin(c);
      return await answer(visit);
    } catch (error) {
      return this.#failure(error, visit);
    }
  }

  /** Checks the key before reading the body, and counts the call against the key whatever the body contains. */
  async #post(visit: HttpCall, readOnly: boolean): Promise<Response> {
    const { c, headers } = visit;
    const mcp = { tools: c.req.query('tools'), readOnly };
    const credentials = { ...credentialsOf(c), mcp };
    const caller = await this.#executor.authenticate(credentials);
    admittedOf(c.env).proved('api', caller.projectId);
    const message = await this.#read(visit, caller);
    const tables = this.#tablesFor(mcp);
    const accepted = { message, caller, credentials, tables, ...this.#era(c, message) };
    if (!isJSONRPCRequest(message)) {
      this.#cancel(c, message, caller);
      return answered(visit, await this.#serve(c, accepted, NEVER));
    }
    if (message.method === 'subscriptions/listen' && accepted.era === 'modern') {
      return this.#listen(visit, { ...accepted, message });
    }
    const isTask = message.method === 'tasks/get' && accepted.era === 'modern';
    const pace = isTask ? 'long' : this.#pace(message);
    if (pace !== null && pace !== 'moment') return this.#hold(visit, { ...accepted, message });
    const served = await this.#serve(c, accepted, NEVER);
    if (message.method === 'initialize') {
      headers[SESSION_HEADER] = newSession(clientNameOf(message));
    }
    return answered(visit, served);
  }

  #tablesFor(address: McpAddress): McpTables {
    if (isWhole(address)) return this.#tables;
    const { tools: all, resources, ...others } = this.#tables;
    const tools = all.part?.(address) ?? all;
    return { ...others, tools, resources: resources.part?.(tools) ?? resources };
  }

  #cancel(c: Context<HttpEnv>, { method, params }: Message, caller: Caller): void {
    const id = idOf({ id: params?.['requestId'] });
    if (method === 'notifications/cancelled' && id !== null) {
      this.#running.cancel(callName(c, caller, id));
    }
  }

  #refuseOrigin(c: Context<HttpEnv>): void {
    const origin = c.req.header('origin');
    if (origin === undefined || this.#options.allowedOrigin?.(origin)) return;
    throw new RefusedRequest(403, invalidRequest('').code, 'This Origin is not allowed.');
  }

  async #read(visit: HttpCall, caller: Caller): Promise<Message> {
    let metered = true;
    try {
      const value = await readJson(visit.c.env);
      visit.id = idOf(value);
      const message = withArguments(messageOf(value), this.#tables.tools);
      metered = this.#pace(message) !== 'wait';
      return message;
    } finally {
      if (metered) Object.assign(visit.headers, this.#executor.meter(caller));
    }
  }

  /** How a tool call is answered; null for other messages and for unknown tools. */
  #pace({ method, params }: Message): ReturnType<CallableTool['pace']> | null {
    if (method !== 'tools/call') return null;
    const tool = this.#tables.tools.find(String(params?.['name']));
    return tool?.pace(argumentsOf(params?.['arguments'])) ?? null;
  }

  /** The kind of protocol revision that a message uses, and the headers that the SDK should read. */
  #era(c: Context<HttpEnv>, body: Message): Pick<McpCall, 'era' | 'headers'> {
    const version = c.req.header('mcp-protocol-version');
    const method = c.req.header('mcp-method');
    const name = c.req.header('mcp-name');
    const { kind } = classifyInboundRequest({
      httpMethod: 'POST',
      body,
      ...(version !== undefined && { protocolVersionHeader: version }),
      ...(method !== undefined && { mcpMethodHeader: method }),
      ...(name !== undefined && { mcpNameHeader: name }),
    });
    if (kind === 'legacy') {
      refuseUnknown(version);
      refuseBare(body);
      return { era: 'legacy', headers: JSON_TYPE };
    }
    const headers = {
      ...JSON_TYPE,
      ...(version !== undefined && { 'mcp-protocol-version': version }),
      ...(method !== undefined && { 'mcp-method': method }),
      ...(name !== undefined && { 'mcp-name': name }),
    };
    return { era: 'modern', headers };
  }

  /** Gets the SDK's answer. Rejects with errors that concern the request as a whole. */
  async #serve(c: Context<HttpEnv>, accepted: McpCall, signal: AbortSignal): Promise<SdkReply> {
    const { message, era, headers } = accepted;
    const failures: unknown[] = [];
    const exchange = this.#exchange(c, accepted, signal, (error) => failures.push(error));
    const response =
      era === 'modern'
        ? await createMcpHandler(() => serverOf(exchange), { legacy: 'reject' }).fetch(
            requestOf(headers, signal),
            { parsedBody: message },
          )
        : await serveLegacy(exchange, message, signal);
    if (failures.length > 0) throw failures[0];
    return response;
  }

  #exchange(
    c: Context<HttpEnv>,
    { message, era, caller, tables }: McpCall,
    signal: AbortSignal,
    failed: Exchange['failed'],
  ): Exchange {
    const { onInternal, serverVersion } = this.#options;
    return {
      era,
      tables,
      version: serverVersion,
      introduces: INTRODUCING.has(message.method),
      takesTasks: era === 'modern' && takesTasks(message),
      site: { executor: this.#executor, caller, signal, onInternal },
      clientName: clientNameOf(message) ?? sessionClient(c.req.header(SESSION_HEADER)),
      progressMs: acceptsStream(c) ? this.#tickMs : null,
      taskHoldMs: this.#options.taskHoldMs ?? TASK_HOLD_MS,
      failed,
    };
  }

  /** Runs a call that may take longer than clients and proxies wait without output. */
  async #hold(
    visit: HttpCall,
    accepted: McpCall & { readonly message: JSONRPCRequest },
  ): Promise<Response> {
    const { c, headers } = visit;
    const { message, caller } = accepted;
    const gone = callerGone(c.env.outgoing);
    const run = (signal: AbortSignal): Promise<SdkReply> =>
      this.#serve(c, accepted, signal).catch((error: unknown) => {
        // The SDK aborts calls whose client left or cancelled.
        if (signal.aborted) return null;
        throw error;
      });
    const answer = this.#running
      .run(callName(c, caller, message.id), gone.signal, run)
      .finally(() => gone.stop());
    const times = { streamAfterMs: this.#streamAfterMs, tickMs: this.#quietMs };
    if (acceptsStream(c)) {
      const held = await hold(answer, times);
      return replied(visit, held, held === null ? 202 : 200, headers);
    }
    const broken = (error: unknown): void => breakOff(c, error, this.#options.onInternal);
    const json = await holdJson(answer, { ...times, broken });
    if (json instanceof ReadableStream) {
      return reply(c, json, 200, { ...headers, ...JSON_TYPE, ...AS_IT_COMES });
    }
    return replied(visit, json, json === null ? 202 : 200, headers);
  }

  async #listen(
    visit: HttpCall,
    accepted: McpCall & { readonly message: JSONRPCRequest },
  ): Promise<Response> {
    const { c } = visit;
    if (!acceptsStream(c)) {
      throw invalidRequest('The answer is an event stream: name text/event-stream in Accept.');
    }
    const { message, credentials, headers } = accepted;
    const { signal } = callerGone(c.env.outgoing);
    const exchange = this.#exchange(c, accepted, signal, () => undefined);
    const stream = await listen({
      message,
      credentials,
      site: exchange.site,
      tables: accepted.tables,
      takesTasks: exchange.takesTasks,
      serve: async (parsedBody: JSONRPCRequest, bus: InMemoryServerEventBus) => {
        const options = { legacy: 'reject', bus, keepAliveMs: this.#tickMs } as const;
        const handler = createMcpHandler(() => serverOf(exchange), options);
        const response = await handler.fetch(requestOf(headers, signal), { parsedBody });
        return { response, close: () => handler.close() };
      },
      tickMs: this.#tickMs,
      pauseMs: this.#options.pauseMs,
    });
    if (stream instanceof ReadableStream) return replied(visit, stream, 200, visit.headers);
    return answered(visit, stream);
  }

  #failure(error: unknown, visit: HttpCall): Response {
    const { c, id, headers } = visit;
    if (error instanceof RefusedRequest) {
      return replied(visit, errorJson(id, error), error.status, headers);
    }
    if (error instanceof ProtocolError) {
      const { code, message } = error;
      return replied(visit, errorJson(id, { code, message }), 200, headers);
    }
    const shown = shownError(error, c.get('requestId'), logOf(c, this.#options.onInternal));
    const { oauthUrl } = this.#options;
    const signIn =
      shown.status === 401 &&
      oauthUrl !== undefined &&
      challenge(oauthUrl, c.env.incoming.url ?? '/');
    const all = { ...headers, ...shown.headers(), ...signIn };
    return replied(visit, errorJson(id, errorOf(shown)), shown.status, all);
  }
}

/** The SDK needs some URL and ignores this one. */
const ADDRESS = 'http://localhost/mcp';

/** The request as the SDK reads it, besides the message. */
function requestOf(headers: Record<string, string>, signal: AbortSignal): Request {
  return new Request(ADDRESS, {
    method: 'POST',
    headers,
    ...(signal !== NEVER && { signal }),
  });
}

/**
 * Serves older revisions without the SDK's own handler, which answers only with streams and enforces Accept. Calls that
 * may be held use the SDK's single-request transport; the others use its faster in-process transport. A refusal has
 * status 200 too, because 404 would tell an older client that its session is gone.
 */
async function serveLegacy(
  exchange: Exchange,
  message: Message,
  signal: AbortSignal,
): Promise<SdkReply> {
  const server = serverOf(exchange);
  if (signal !== NEVER) {
    const transport = new PerRequestHTTPServerTransport({ classification: { era: 'legacy' } });
    await server.connect(transport);
    return transport.handleMessage(message, { request: requestOf(JSON_TYPE, signal) });
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const answer = new Promise<JSONRPCMessage>((resolve) => {
    // oxlint-disable-next-line prefer-add-event-listener -- the SDK's transports have no other way
    near.onmessage = resolve;
  });
  await near.send(message);
  return isJSONRPCRequest(message) ? writeNumbers(JSON.stringify(await answer)) : null;
}

/** Throws unless the revision in an older client's header is one that we support. */
function refuseUnknown(requested: string | undefined): void {
  if (requested === undefined || LEGACY_VERSIONS.includes(requested)) return;
  const supported = [...SUPPORTED_VERSIONS];
  const { code, message } = new UnsupportedProtocolVersionError({ supported, requested });
  throw new RefusedRequest(400, code, message, { supported, requested });
}

/** Refuses a malformed `initialize` here, because the SDK would report it as an internal error. */
function refuseBare(message: Message): void {
  if (message.method !== 'initialize' || isInitializeRequest(message)) return;
  throw invalidParams('Invalid params: name protocolVersion, capabilities and clientInfo.');
}

/** The SDK's answer with our headers. */
async function answered(visit: HttpCall, served: SdkReply): Promise<Response> {
  const body = await sent(served);
  const status = served instanceof Response ? served.status : body === null ? 202 : 200;
  return replied(visit, body, status, visit.headers);
}

function replied(
  { c }: HttpCall,
  body: ClientReply,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  if (body === null) return reply(c, null, status, headers);
  const type = typeof body === 'string' ? JSON_TYPE : STREAM_TYPE;
  return reply(c, body, status, { ...headers, ...type });
}

function acceptsStream(c: Context<HttpEnv>): boolean {
  return /text\/event-stream|\*\/\*/.test(c.req.header('accept') ?? '');
}
