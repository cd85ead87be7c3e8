import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { Client } from '../call/client.ts';
import { writeNumbers } from '../../shared/api/mcp/numbers.ts';
import { confirmAnswer } from './confirm-answer.ts';
import { Endpoint, type PendingCall } from './endpoint.ts';
import { heldTool, type HeldTool } from './held-tool.ts';
import { LINE_MAX_BYTES, LineWriter, readLines } from './lines.ts';
import {
  doneLine,
  errorLine,
  LISTEN_METHOD,
  PARSE_ERROR,
  SERVER_ERROR,
  subjectOf,
  versionOf,
  withSubscriptions,
  type MessageId,
} from './message.ts';
import { markedJson } from './numbers.ts';
import { SubscriptionError, Subscriptions } from './subscriptions.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';
import { sleep } from '../../clients/typescript/core/clock.ts';

/** With this many open requests the bridge stops reading input. */
const OPEN_MAX = 256;
/** How long short answers may take after the input ends. */
const ENDING_MS = 15_000;
const INPUT_ENDED = 'The wait was stopped, because the input has ended.';
/** The client decides where calls go; this address has no meaning. */
const ADDRESS = new URL('http://localhost/mcp');

export interface BridgeOptions {
  readonly client: Client;
  /** `/mcp`, or the part of it that the user wants. */
  readonly path: string;
  readonly input: Readable;
  readonly output: Writable;
  /** Starts the daemon if it doesn't answer. */
  readonly ensureDaemon: () => Promise<void>;
  /** Stops the bridge at once. */
  readonly signal: AbortSignal;
  /** How long short answers may take after the input ends (default 15 s). */
  readonly endingMs?: number;
  /** For people, on standard error. */
  readonly note: (text: string) => void;
}

/** A request without its answer yet. */
class Open implements PendingCall {
  readonly request: JSONRPCRequest;
  readonly abort = new AbortController();
  readonly ending = new AbortController();
  readonly held: HeldTool | null;
  readonly over: Promise<void>;
  answered: () => void = () => undefined;

  constructor(request: JSONRPCRequest) {
    this.request = request;
    this.held = heldTool(writeNumbers(JSON.stringify(request)));
    this.over = new Promise((resolve) => (this.answered = resolve));
    this.abort.signal.addEventListener('abort', () => this.answered(), { once: true });
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  get hurry(): AbortSignal {
    return this.ending.signal;
  }
}

/** Pipes MCP messages between standard input and output and the daemon's `/mcp`, over the SDK's transports. */
export class McpBridge {
  readonly #options: BridgeOptions;
  readonly #lines = new PassThrough();
  readonly #writer: LineWriter;
  readonly #stdio: StdioServerTransport;
  readonly #http: StreamableHTTPClientTransport;
  readonly #open = new Map<MessageId, Open>();
  readonly #jobs = new Set<Promise<void>>();
  readonly #subscriptions: Subscriptions;

  constructor(options: BridgeOptions) {
    const { client, path, output, ensureDaemon, note } = options;
    const endpoint = new Endpoint({ client, path, ensureDaemon, note });
    this.#options = options;
    this.#writer = new LineWriter(output);
    const limits = { maxBufferSize: 2 * LINE_MAX_BYTES };
    this.#stdio = new StdioServerTransport(this.#lines, this.#writer, limits);
    // oxlint-disable-next-line prefer-add-event-listener -- the SDK's transports have no other way
    this.#stdio.onmessage = (message) => this.#fromClient(message);
    // oxlint-disable-next-line prefer-add-event-listener -- the SDK's transports have no other way
    this.#stdio.onerror = () => this.#refuseLine("The line isn't a JSON-RPC message.");
    this.#http = new StreamableHTTPClientTransport(ADDRESS, {
      fetch: (_url, init) => endpoint.fetch(init, (id) => this.#open.get(id)),
    });
    // oxlint-disable-next-line prefer-add-event-listener -- the SDK's transports have no other way
    this.#http.onmessage = (message) => this.#fromServer(message);
    this.#subscriptions = new Subscriptions({
      post: (message, signal) => endpoint.post(message, signal),
      write: (message) => this.#stdio.send(message),
      note,
    });
  }

  /** Resolves once the input has ended and nothing is pending. */
  async run(): Promise<void> {
    const { input, output, signal } = this.#options;
    const end = (): unknown => input.destroy();
    signal.addEventListener('abort', end, { once: true });
    // Nobody reads any more, so open calls end as they do when the input ends.
    for (const sign of ['error', 'close']) output.once(sign, end);
    await this.#http.start();
    await this.#stdio.start();
    try {
      for await (const line of readLines(input)) await this.#take(line);
    } catch (error) {
      if (!signal.aborted) this.#options.note(`The input broke off: ${messageOf(error)}`);
    } finally {
      signal.removeEventListener('abort', end);
    }
    this.#lines.end();
    await once(this.#lines, 'end');
    this.#endWaits();
    if (!signal.aborted) await this.#settle();
    for (const { abort } of this.#open.values()) abort.abort();
    await this.#http.close();
    await Promise.all(this.#jobs);
    this.#writer.end();
    await once(this.#writer, 'close');
  }

  /**
   * Nobody is left to wait: subscriptions end, and so do waits for events, which would be claimed for nobody. A question
   * is asked all the same, and isn't waited for.
   */
  #endWaits(): void {
    this.#subscriptions.end();
    for (const [id, { request, abort, ending, held }] of this.#open) {
      if (held?.least === 0) ending.abort();
      else if (held || request.method === LISTEN_METHOD) {
        if (held) this.#writer.write(`${errorLine(id, SERVER_ERROR, INPUT_ENDED)}\n`);
        abort.abort();
      }
    }
  }

  /** After `printf … | svc mcp` closes the input, short answers must still arrive. */
  async #settle(): Promise<void> {
    const { signal, endingMs = ENDING_MS } = this.#options;
    const done = new AbortController();
    const answered = Promise.all(this.#jobs).then(() => done.abort());
    await Promise.race([answered, sleep(endingMs, AbortSignal.any([done.signal, signal]))]);
  }

  async #take(line: Buffer | null): Promise<void> {
    if (line === null) return this.#refuseLine('The line is too long.');
    const text = line.toString('utf8');
    if (text.trim() === '') return;
    if (!this.#lines.write(`${markedJson(text)}\n`)) await once(this.#lines, 'drain');
    if (this.#jobs.size >= OPEN_MAX) await Promise.race(this.#jobs);
  }

  #refuseLine(why: string): void {
    this.#writer.write(`${errorLine(null, PARSE_ERROR, why)}\n`);
  }

  #fromClient(message: JSONRPCMessage): void {
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      // Dropping the connection tells the daemon; a cancelled request gets no answer.
      const { requestId } = message.params ?? {};
      this.#open.get(requestId as MessageId)?.abort.abort();
      return;
    }
    this.#follow(isJSONRPCRequest(message) ? this.#answer(message) : this.#tell(message));
  }

  async #tell(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#http.send(message);
    } catch (error) {
      this.#options.note(messageOf(error));
    }
  }

  /** Subscriptions of older revisions live here; newer ones have their own streams. */
  #answer(request: JSONRPCRequest): Promise<void> {
    const { id, method } = request;
    const uri = subjectOf(request);
    if (versionOf(request) === null) {
      if (uri !== null && method === 'resources/subscribe') return this.#subscribe(id, uri);
      if (uri !== null && method === 'resources/unsubscribe') {
        this.#subscriptions.unsubscribe(uri);
        return this.#stdio.send(doneLine(id));
      }
      if (method === 'resources/list') this.#subscriptions.followList();
    }
    return this.#pass(request);
  }

  async #subscribe(id: MessageId, uri: string): Promise<void> {
    try {
      await this.#subscriptions.subscribe(uri);
      await this.#stdio.send(doneLine(id));
    } catch (error) {
      const code = error instanceof SubscriptionError ? error.code : SERVER_ERROR;
      this.#writer.write(`${errorLine(id, code, messageOf(error))}\n`);
    }
  }

  async #pass(request: JSONRPCRequest): Promise<void> {
    const { id } = request;
    const open = new Open(request);
    this.#open.get(id)?.answered();
    this.#open.set(id, open);
    try {
      await this.#http.send(request);
      await open.over;
    } catch (error) {
      if (open.abort.signal.aborted) return;
      this.#options.note(messageOf(error));
      this.#writer.write(`${errorLine(id, SERVER_ERROR, messageOf(error))}\n`);
    } finally {
      if (this.#open.get(id) === open) this.#open.delete(id);
    }
  }

  #fromServer(message: JSONRPCMessage): void {
    const id = 'method' in message ? undefined : message.id;
    const open = id === undefined ? undefined : this.#open.get(id);
    let passed = message;
    if (open?.request.method === 'initialize' && 'result' in message) {
      const { protocolVersion } = message.result;
      if (typeof protocolVersion === 'string') this.#http.setProtocolVersion(protocolVersion);
      passed = withSubscriptions(message);
    }
    void this.#send(passed, open);
  }

  /** Gives the client its answer, and then says that it has it. */
  async #send(message: JSONRPCMessage, open?: Open): Promise<void> {
    const { client, signal } = this.#options;
    await this.#stdio.send(message);
    if (!open) return;
    open.answered();
    this.#follow(confirmAnswer(client, open.request, message, signal));
  }

  /** A job that the bridge finishes before it ends. */
  #follow(job: Promise<void>): void {
    this.#jobs.add(job);
    void job.finally(() => this.#jobs.delete(job));
  }
}
