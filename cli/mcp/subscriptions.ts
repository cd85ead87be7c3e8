import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { JSONRPCMessage, JSONRPCNotification } from '@modelcontextprotocol/sdk/types.js';
import { SUBSCRIBED_RESOURCES_MAX } from '../../shared/lib/limits.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { messageOf } from '../errors.ts';
import { Backoff, sleep } from '../work/backoff.ts';
import { errorOf, listenRequest, type Fields, type RpcError } from './message.ts';
import { readEvents } from './sse.ts';

/** Subscriptions that come one upon the other become one stream. */
const TOGETHER_MS = 250;
/** A stream that another one takes the place of goes on for this long: it may have something to tell yet. */
const OVERLAP_MS = 1_000;
const NOT_FOUND = -32002;
const INVALID_PARAMS = -32602;
/** The key is none any more, or the other side is of a release that knows no such streams. */
const FINAL_CODES: ReadonlySet<number> = new Set([401, -32601, -32022]);

/** Why a subscription is none, as JSON-RPC tells it. */
export class SubscriptionRefused extends Error {
  readonly code: number;

  constructor({ code, message }: RpcError) {
    super(message);
    this.name = 'SubscriptionRefused';
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

/** A stream of what changes, and which addresses it is about. */
interface Stream {
  readonly abort: AbortController;
  readonly uris: ReadonlySet<string>;
}

/**
 * What a client of the revisions with `initialize` subscribed to. It is held here, for as long as its client runs, and
 * heard of over one stream of the newer revision, which begins anew when that breaks. Without a subscription there is
 * no stream.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #ended = new AbortController();
  readonly #uris = new Set<string>();
  #wantsList = false;
  #stream: Stream | null = null;
  /** What is about to be opened, for all that is subscribed to until then. */
  #next: Promise<Stream> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #turnedAt = 0;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Resolves when changes of the resource will be told. Rejects with `SubscriptionRefused`. */
  async subscribe(uri: string): Promise<void> {
    if (this.#stream?.uris.has(uri) && this.#uris.has(uri)) return;
    if (this.#uris.size >= SUBSCRIBED_RESOURCES_MAX && !this.#uris.has(uri)) {
      const message = `At most ${SUBSCRIBED_RESOURCES_MAX} resources; unsubscribe from one first.`;
      throw new SubscriptionRefused({ code: INVALID_PARAMS, message });
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
    throw new SubscriptionRefused({ code: NOT_FOUND, message: 'Resource not found' });
  }

  unsubscribe(uri: string): void {
    this.#uris.delete(uri);
    this.#dropUnwanted();
  }

  /** From now on the client has a list that may become an old one. */
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

  /** The stream of all that is subscribed to now: one after the other. */
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

  /** Resolves when the stream is acknowledged, and goes on to read it. */
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
      // It broke off, or was dropped here.
    }
    if (stream.abort.signal.aborted || this.#stream !== stream) return;
    this.#stream = null;
    await this.#again();
  }

  /** Until the other side is back. What changed meanwhile nobody knows: the client is to look at all of it. */
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
        if (error instanceof SubscriptionRefused && FINAL_CODES.has(error.code)) {
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

/** The addresses that will be heard of; null for what is no acknowledgement. */
function acknowledged(event: string): ReadonlySet<string> | null {
  const { method, params } = parseObject(event) ?? {};
  if (method !== 'notifications/subscriptions/acknowledged' || !isObject(params)) return null;
  const { notifications } = params;
  const uris = isObject(notifications) ? notifications['resourceSubscriptions'] : undefined;
  return new Set(Array.isArray(uris) ? uris.map(String) : []);
}

async function refusalOf(response: IncomingMessage): Promise<Error> {
  const error = errorOf(await text(response));
  if (error) return new SubscriptionRefused(error);
  return new Error(`The daemon answered ${response.statusCode ?? 0} without a message.`);
}
