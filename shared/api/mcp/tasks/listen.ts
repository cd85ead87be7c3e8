import {
  InMemoryServerEventBus,
  SUBSCRIPTION_ID_META_KEY,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import type { Change } from '../../../kernel/context.ts';
import type { ServiceError } from '../../../lib/errors.ts';
import type { Credentials } from '../../../kernel/executor.ts';
import { SUBSCRIBED_RESOURCES_MAX } from '../../../lib/limits.ts';
import { isObject } from '../../../lib/guards.ts';
import { event, Outflow, streamOf } from './hold.ts';
import { errorJson, errorOf, invalidParams } from '../refusal.ts';
import { writeNumbers } from '../numbers.ts';
import type { CallSite, McpTables } from '../tables.ts';
import { isEnded } from './tasks.ts';
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
  readonly tables: McpTables;
  /** The client takes tasks, so it may hear of them. */
  readonly takesTasks: boolean;
  readonly serve: (message: JSONRPCRequest, bus: InMemoryServerEventBus) => Promise<Serving>;
  /** How often to check that the key is still valid. */
  readonly tickMs: number;
  readonly pauseMs?: number | undefined;
}

interface Filter {
  readonly resourcesListChanged: boolean;
  readonly resourceSubscriptions: readonly string[];
  readonly taskIds: readonly string[];
}

/**
 * Streams changes for as long as the client reads, or returns the SDK's refusal of an invalid filter. Rejects before
 * the stream starts, as `Executor.follow` does. Each caller has its own bus: a bus knows only URIs, and other projects
 * use the same ones.
 */
export async function listen(listening: Listening): Promise<Response | ReadableStream<Uint8Array>> {
  const { message, serve } = listening;
  const filter = readFilter(message);
  if (!filter) return (await serve(message, new InMemoryServerEventBus())).response;
  return new Subscription(listening, await honoured(filter, listening)).begin();
}

/** The client's filter; null if it is malformed. */
function readFilter({ params }: JSONRPCRequest): Filter | null {
  const filter = params?.['notifications'];
  if (!isObject(filter)) return null;
  const { resourcesListChanged = false, resourceSubscriptions = [], taskIds = [] } = filter;
  if (typeof resourcesListChanged !== 'boolean' || !areTexts(resourceSubscriptions)) return null;
  for (const [name, texts] of Object.entries({ resourceSubscriptions, taskIds })) {
    if (areTexts(texts) && texts.length <= SUBSCRIBED_RESOURCES_MAX) continue;
    throw invalidParams(
      `Invalid params: ${name} must be at most ${SUBSCRIBED_RESOURCES_MAX} texts`,
    );
  }
  return {
    resourcesListChanged,
    resourceSubscriptions: [...new Set(resourceSubscriptions)],
    taskIds: areTexts(taskIds) ? [...new Set(taskIds)] : [],
  };
}

/** The part of the filter that exists and that the key may see. Tools and prompts only change with a release. */
async function honoured(filter: Filter, listening: Listening): Promise<Filter> {
  const { resources } = listening.tables;
  const { scopes } = listening.site.caller;
  const uris = filter.resourceSubscriptions;
  const { tasks, tools } = listening.tables;
  const taskIds = [];
  for (const id of listening.takesTasks ? filter.taskIds : []) {
    if (await tasks.get(id, { site: listening.site, tools, holdMs: 0 })) taskIds.push(id);
  }
  return {
    resourcesListChanged: filter.resourcesListChanged && resources.listTopics(scopes).length > 0,
    resourceSubscriptions: uris.filter((uri) => resources.topicOf(uri, scopes) !== null),
    taskIds,
  };
}

class Subscription {
  readonly #listening: Listening;
  readonly #filter: Filter;
  readonly #bus = new InMemoryServerEventBus();
  readonly #watch: ResourceWatch;
  /** The tasks that haven't ended, as far as the client knows. */
  readonly #tasks: Set<string>;
  /** The looks at them, one after the other. */
  #looked: Promise<void> = Promise.resolve();
  #flowing: Outflow | null = null;
  /** Ends the stream with an error, or as a server shutdown if `why` is null. */
  #end: (why: ServiceError | null) => void = () => undefined;
  readonly #ended: Promise<ServiceError | null>;

  constructor(listening: Listening, filter: Filter) {
    const { site, credentials, tables, pauseMs } = listening;
    const { resources } = tables;
    this.#listening = listening;
    this.#filter = filter;
    this.#tasks = new Set(filter.taskIds);
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    this.#watch = new ResourceWatch({
      executor: site.executor,
      onInternal: site.onInternal,
      resources,
      credentials,
      uris: filter.resourceSubscriptions,
      list: filter.resourcesListChanged,
      changed: (uri) => this.#publish(uri),
      noted: (change) => this.#noteTask(change),
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
    const { taskIds, ...theirs } = this.#filter;
    // The SDK knows no tasks, and ends a stream of nothing. It says nothing of the list unless we do.
    const notifications = taskIds.length > 0 ? { ...theirs, resourcesListChanged: true } : theirs;
    const params = { ...message.params, notifications };
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
      const passed = flow
        .pass(body, (text) => this.#acknowledged(text, flow))
        .then(() => undefined);
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

  /** The acknowledgement with the tasks. From now on the client may hear of them, also of those that ended before. */
  #acknowledged(text: string, flow: Outflow): string {
    const { taskIds, resourcesListChanged: list, resourceSubscriptions: uris } = this.#filter;
    if (this.#flowing || taskIds.length === 0) return text;
    this.#flowing = flow;
    this.#noteTask(null);
    const message: unknown = JSON.parse(text.slice(text.indexOf('{')));
    const { params, ...acknowledged } = isObject(message) ? message : {};
    const notifications = {
      ...(list && { resourcesListChanged: true }),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
      taskIds,
    };
    const withTasks = { ...(isObject(params) && params), notifications };
    return event(JSON.stringify({ ...acknowledged, params: withTasks }));
  }

  #noteTask(change: Change | null): void {
    if (!this.#flowing) return;
    const { tasks } = this.#listening.tables;
    for (const id of [...this.#tasks].filter((one) => tasks.concerns(one, change))) {
      this.#looked = this.#looked.then(() => this.#tellTask(id)).catch(() => undefined);
    }
  }

  /** Tells the news of a task. If it can't be read now, the client learns it when it asks. */
  async #tellTask(id: string): Promise<void> {
    const { message, site, credentials, tables } = this.#listening;
    const { tasks, tools } = tables;
    const caller = await site.executor.authenticate(credentials);
    const task = await tasks.news(id, { site: { ...site, caller }, tools });
    if (!task || !this.#tasks.has(id)) return;
    if (isEnded(task)) this.#tasks.delete(id);
    const params = { _meta: { [SUBSCRIPTION_ID_META_KEY]: message.id }, ...task };
    const told = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks', params });
    this.#flowing?.send(event(writeNumbers(told)));
  }

  #publish(uri: string | null): void {
    if (uri === null) this.#bus.publish({ kind: 'resources_list_changed' });
    else this.#bus.publish({ kind: 'resource_updated', uri });
  }
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
