import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { JSONRPCMessage, JSONRPCNotification } from '@modelcontextprotocol/sdk/types.js';
import { SUBSCRIBED_RESOURCES_MAX } from '../../shared/lib/limits.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { Backoff } from '../../clients/typescript/core/backoff.ts';
import { errorOf, listenRequest, type Fields, type RpcError } from './message.ts';
import { readEvents } from './sse.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';
import { sleep } from '../../clients/typescript/core/clock.ts';

/** Subscriptions within this time share one stream. */
const TOGETHER_MS = 250;
/** A replaced stream stays open for this long, because it may still have a change to report. */
const OVERLAP_MS = 1_000;
const NOT_FOUND = -32002;
const INVALID_PARAMS = -32602;
/** The key no longer works, or the server's release doesn't have such streams. */
const FINAL_CODES: ReadonlySet<number> = new Set([401, -32601, -32022]);

/** A subscription that the server refused, with its JSON-RPC error code. */
export class SubscriptionError extends Error {
  readonly code: number;

  constructor({ code, message }: RpcError) {
    super(message);
    this.name = 'SubscriptionError';
    this.code = code;
  }
}

export interface SubscriptionsOptions {
  /** POSTs a message to the endpoint. */
  readonly post: (message: Fields, signal: AbortSignal) => Promise<IncomingMessage>;
  readonly write: (message: JSONRPCMessage) => Promise<void>;
  /** For people, on standard error. */
  readonly note: (text: string) => void;
}

/** A stream of changes and the resources it covers. */
interface Stream {
  readonly abort: AbortController;
  readonly uris: ReadonlySet<string>;
}

/**
 * The subscriptions of a client that uses a revision with `initialize`. They live here as long as the client runs, and
 * share one stream of the newer revision, which is reopened when it breaks. Without subscriptions there is no stream.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #ended = new AbortController();
  readonly #uris = new Set<string>();
  #wantsList = false;
  #stream: Stream | null = null;
  /** The next stream; it will cover everything subscribed to before it opens. */
  #next: Promise<Stream> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #turnedAt = 0;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Resolves once the client will hear about changes to the resource. Rejects with `SubscriptionError`. */
  async subscribe(uri: string): Promise<void> {
    if (this.#stream?.uris.has(uri) && this.#uris.has(uri)) return;
    if (this.#uris.size >= SUBSCRIBED_RESOURCES_MAX && !this.#uris.has(uri)) {
      const message = `At most ${SUBSCRIBED_RESOURCES_MAX} resources; unsubscribe from one first.`;
      throw new SubscriptionError({ code: INVALID_PARAMS, message });
    }
    this.#uris.add(uri);
    try {
      const { uris } = await this.#renewed();
      if (uris.has(uri)) return;
    } catch (error) {
      this.unsubscribe(uri);
      throw error;
    }
    this.unsubscribe(uri);
    throw new SubscriptionError({ code: NOT_FOUND, message: 'Resource not found' });
  }

  unsubscribe(uri: string): void {
    this.#uris.delete(uri);
    this.#dropUnwanted();
  }

  /** The client has listed the resources, so it must hear about list changes. */
  followList(): void {
    if (this.#wantsList) return;
    this.#wantsList = true;
    this.#renewed().catch((error: unknown) => {
      this.#wantsList = false;
      this.#options.note(`The client won't hear about list changes: ${messageOf(error)}`);
    });
  }

  end(): void {
    this.#ended.abort();
    this.#stream?.abort.abort();
  }

  get #isWanted(): boolean {
    return !this.#ended.signal.aborted && (this.#uris.size > 0 || this.#wantsList);
  }

  #dropUnwanted(): void {
    if (this.#isWanted) return;
    this.#stream?.abort.abort();
    this.#stream = null;
  }

  /** Opens a stream for the current subscriptions, one at a time. */
  #renewed(): Promise<Stream> {
    if (!this.#next) {
      this.#next = this.#last.then(() => this.#turn());
      this.#last = this.#next.catch(() => null);
    }
    return this.#next;
  }

  async #turn(): Promise<Stream> {
    const inMs = this.#turnedAt + TOGETHER_MS - performance.now();
    if (inMs > 0) await sleep(inMs, this.#ended.signal);
    this.#next = null;
    this.#turnedAt = performance.now();
    const before = this.#stream;
    const stream = await this.#open();
    this.#stream = stream;
    if (before) void sleep(OVERLAP_MS, this.#ended.signal).then(() => before.abort.abort());
    this.#dropUnwanted();
    return stream;
  }

  /** Resolves once the stream is acknowledged; keeps reading it afterwards. */
  async #open(): Promise<Stream> {
    const abort = new AbortController();
    if (this.#ended.signal.aborted) abort.abort();
    const request = listenRequest([...this.#uris], this.#wantsList);
    const response = await this.#options.post(request, abort.signal);
    const drop = (): unknown => response.destroy();
    abort.signal.addEventListener('abort', drop, { once: true });
    const type = response.headers['content-type'] ?? '';
    if (!type.startsWith('text/event-stream')) throw await refusalOf(response);
    const events = readEvents(response);
    const first = await events.next();
    const uris = acknowledged(first.done ? '' : first.value);
    if (!uris) {
      abort.abort();
      throw new Error('The stream of changes was not acknowledged.');
    }
    const stream = { abort, uris };
    void this.#read(stream, events);
    return stream;
  }

  async #read(stream: Stream, events: AsyncIterable<string>): Promise<void> {
    try {
      for await (const event of events) await this.#pass(event);
    } catch {
      // The stream broke or was closed here.
    }
    if (stream.abort.signal.aborted || this.#stream !== stream) return;
    this.#stream = null;
    await this.#again();
  }

  /** Retries until the server is back. Changes may have been missed, so the client is told to read everything again. */
  async #again(): Promise<void> {
    const backoff = new Backoff();
    while (this.#isWanted) {
      try {
        await backoff.pause(null, this.#ended.signal);
        if (!this.#stream) await this.#renewed();
        for (const uri of this.#uris) await this.#tellUpdated(uri);
        await this.#tellList();
        return;
      } catch (error) {
        if (error instanceof SubscriptionError && FINAL_CODES.has(error.code)) {
          return this.#options.note(`The client no longer hears about changes: ${error.message}`);
        }
      }
    }
  }

  async #pass(event: string): Promise<void> {
    const { method, params } = parseObject(event) ?? {};
    if (method === 'notifications/resources/list_changed') await this.#tellList();
    const uri = isObject(params) ? params['uri'] : undefined;
    if (method === 'notifications/resources/updated' && typeof uri === 'string') {
      await this.#tellUpdated(uri);
    }
  }

  async #tellUpdated(uri: string): Promise<void> {
    if (!this.#uris.has(uri)) return;
    await this.#tell({ method: 'notifications/resources/updated', params: { uri } });
  }

  async #tellList(): Promise<void> {
    if (this.#wantsList) await this.#tell({ method: 'notifications/resources/list_changed' });
  }

  async #tell(notification: Omit<JSONRPCNotification, 'jsonrpc'>): Promise<void> {
    if (this.#ended.signal.aborted) return;
    await this.#options.write({ jsonrpc: '2.0', ...notification });
  }
}

/** The resources that the stream covers; null if the event isn't an acknowledgement. */
function acknowledged(event: string): ReadonlySet<string> | null {
  const { method, params } = parseObject(event) ?? {};
  if (method !== 'notifications/subscriptions/acknowledged' || !isObject(params)) return null;
  const { notifications } = params;
  const uris = isObject(notifications) ? notifications['resourceSubscriptions'] : undefined;
  return new Set(Array.isArray(uris) ? uris.map(String) : []);
}

async function refusalOf(response: IncomingMessage): Promise<Error> {
  const error = errorOf(await text(response));
  if (error) return new SubscriptionError(error);
  return new Error(`The daemon answered ${response.statusCode ?? 0} without a message.`);
}
