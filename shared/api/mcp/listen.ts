import { InMemoryServerEventBus, type JSONRPCRequest } from '@modelcontextprotocol/server';
import type { Caller } from '../../kernel/context.ts';
import type { ServiceError } from '../../lib/errors.ts';
import type { Credentials } from '../../kernel/executor.ts';
import { SUBSCRIBED_RESOURCES_MAX } from '../../lib/limits.ts';
import { isObject } from '../../lib/guards.ts';
import { event, Outflow, streamOf } from './hold.ts';
import { errorJson, errorOf, invalidParams } from './refusal.ts';
import type { CallSite, ResourceTable } from './tables.ts';
import { ResourceWatch } from './watch.ts';

/** The SDK's handling of one request, with its own event bus. */
interface Serving {
  readonly response: Response;
  /** Ends the stream as a server does that shuts down. */
  close(): Promise<void>;
}

/** A `subscriptions/listen` request that we can answer. */
export interface Listening {
  readonly message: JSONRPCRequest;
  readonly site: CallSite;
  readonly credentials: Credentials;
  readonly resources: ResourceTable;
  readonly serve: (message: JSONRPCRequest, bus: InMemoryServerEventBus) => Promise<Serving>;
  /** How often to check that the key is still valid. */
  readonly tickMs: number;
  readonly pauseMs?: number | undefined;
}

interface Filter {
  readonly resourcesListChanged: boolean;
  readonly resourceSubscriptions: readonly string[];
}

/**
 * Streams changes for as long as the client reads, or returns the SDK's refusal of an invalid filter. Rejects before
 * the stream starts, as `Executor.follow` does. Each caller has its own bus: a bus knows only URIs, and other projects
 * use the same ones.
 */
export async function listen(listening: Listening): Promise<Response | ReadableStream<Uint8Array>> {
  const { message, resources, site, serve } = listening;
  const filter = readFilter(message);
  if (!filter) return (await serve(message, new InMemoryServerEventBus())).response;
  return new Subscription(listening, honoured(filter, resources, site.caller)).begin();
}

/** The client's filter; null if it is malformed. */
function readFilter({ params }: JSONRPCRequest): Filter | null {
  const filter = params?.['notifications'];
  if (!isObject(filter)) return null;
  const { resourcesListChanged = false, resourceSubscriptions = [] } = filter;
  if (typeof resourcesListChanged !== 'boolean' || !areTexts(resourceSubscriptions)) return null;
  if (resourceSubscriptions.length > SUBSCRIBED_RESOURCES_MAX) {
    throw invalidParams(
      `Invalid params: resourceSubscriptions must be at most ${SUBSCRIBED_RESOURCES_MAX} texts`,
    );
  }
  return { resourcesListChanged, resourceSubscriptions: [...new Set(resourceSubscriptions)] };
}

/** The part of the filter that exists and that the key may see. Tools and prompts only change with a release. */
function honoured(filter: Filter, resources: ResourceTable, { scopes }: Caller): Filter {
  const uris = filter.resourceSubscriptions;
  return {
    resourcesListChanged: filter.resourcesListChanged && resources.listTopics(scopes).length > 0,
    resourceSubscriptions: uris.filter((uri) => resources.topicOf(uri, scopes) !== null),
  };
}

class Subscription {
  readonly #listening: Listening;
  readonly #filter: Filter;
  readonly #bus = new InMemoryServerEventBus();
  readonly #watch: ResourceWatch;
  /** Ends the stream with an error, or as a server shutdown if `why` is null. */
  #end: (why: ServiceError | null) => void = () => undefined;
  readonly #ended: Promise<ServiceError | null>;

  constructor(listening: Listening, filter: Filter) {
    const { site, credentials, resources, pauseMs } = listening;
    this.#listening = listening;
    this.#filter = filter;
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    this.#watch = new ResourceWatch({
      executor: site.executor,
      onInternal: site.onInternal,
      resources,
      credentials,
      uris: filter.resourceSubscriptions,
      list: filter.resourcesListChanged,
      changed: (uri) => this.#publish(uri),
      ended: (why) => this.#end(why),
      ...(pauseMs !== undefined && { pauseMs }),
    });
  }

  async begin(): Promise<Response | ReadableStream<Uint8Array>> {
    const { message, site, serve } = this.#listening;
    const { signal } = site;
    signal.addEventListener('abort', () => this.#watch.stop(), { once: true });
    if (signal.aborted) this.#watch.stop();
    await this.#watch.start(site.caller);
    const params = { ...message.params, notifications: { ...this.#filter } };
    const serving = await serve({ ...message, params }, this.#bus);
    const body = streamOf(serving.response);
    if (body) {
      return new Outflow().begin((flow) => this.#flow(flow, body, serving));
    }
    this.#watch.stop();
    return serving.response;
  }

  async #flow(flow: Outflow, body: ReadableStream<Uint8Array>, serving: Serving): Promise<void> {
    // If the gateway can't check the key now, the next tick asks again.
    const ticker = setInterval(
      () => void this.#watch.check().catch(() => null),
      this.#listening.tickMs,
    );
    try {
      const passed = flow.pass(body).then(() => undefined);
      const why = await Promise.race([passed, this.#ended]);
      if (why === undefined) return;
      if (why === null) await serving.close();
      else await flow.stop();
      await passed;
      // The request's own answer comes last in its stream.
      if (why) flow.send(event(errorJson(this.#listening.message.id, errorOf(why))));
    } finally {
      clearInterval(ticker);
      this.#watch.stop();
    }
  }

  #publish(uri: string | null): void {
    if (uri === null) this.#bus.publish({ kind: 'resources_list_changed' });
    else this.#bus.publish({ kind: 'resource_updated', uri });
  }
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
