import type { Caller } from '../context.ts';
import type { ServiceError } from '../errors.ts';
import type { Credentials } from '../executor.ts';
import { SUBSCRIBED_RESOURCES_MAX } from '../limits.ts';
import {
  errorJson,
  invalidParams,
  isFields,
  META_SUBSCRIPTION,
  type Message,
  type RequestId,
} from './mcp-protocol.ts';
import { event, KEEP_ALIVE } from './mcp-stream.ts';
import type { CallSite, ResourceTable } from './mcp-tables.ts';
import { ResourceWatch } from './mcp-watch.ts';

/** A client that takes nothing from its stream is dropped when so many pieces wait for it. */
const WAITING_MAX = 1000;

/** A `subscriptions/listen` that may be answered. */
export interface Listening {
  readonly id: RequestId;
  readonly message: Message;
  readonly site: CallSite;
  readonly credentials: Credentials;
  readonly resources: ResourceTable;
  /** The JSON of a result that says no more than which subscription it ends. */
  readonly closed: string;
  readonly tickMs: number;
  readonly pauseMs?: number | undefined;
}

interface Wanted {
  readonly list: boolean;
  readonly uris: readonly string[];
}

/**
 * A stream of what changes, for as long as the client reads it. Rejects before it begins: with `ProtocolError` for a
 * filter that is none, and as `Executor.follow` does.
 */
export async function listen(listening: Listening): Promise<ReadableStream<Uint8Array>> {
  const { message, site, resources } = listening;
  const wanted = honoured(readFilter(message), resources, site.caller);
  const stream = new Subscription(listening, wanted);
  await stream.start();
  return stream.body();
}

/** What the client asked for. -32602 where that cannot be read. */
function readFilter({ params }: Message): Wanted {
  const filter = params['notifications'];
  if (!isFields(filter)) throw invalidParams('Invalid params: notifications must be an object');
  const { resourcesListChanged = false, resourceSubscriptions = [] } = filter;
  if (typeof resourcesListChanged !== 'boolean') {
    throw invalidParams('Invalid params: resourcesListChanged must be true or false');
  }
  if (!areTexts(resourceSubscriptions) || resourceSubscriptions.length > SUBSCRIBED_RESOURCES_MAX) {
    throw invalidParams(
      `Invalid params: resourceSubscriptions must be at most ${SUBSCRIBED_RESOURCES_MAX} texts`,
    );
  }
  return { list: resourcesListChanged, uris: [...new Set(resourceSubscriptions)] };
}

/** The part of it that there is, and that the key may see. Tools and prompts change with a release only. */
function honoured({ list, uris }: Wanted, resources: ResourceTable, { scopes }: Caller): Wanted {
  return {
    list: list && resources.listTopics(scopes).length > 0,
    uris: uris.filter((uri) => resources.topicOf(uri, scopes) !== null),
  };
}

class Subscription {
  readonly #listening: Listening;
  readonly #wanted: Wanted;
  readonly #watch: ResourceWatch;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #ticker: NodeJS.Timeout | undefined;
  /** What was there to say before there was a stream: how it ended. */
  #last: string | null = null;

  constructor(listening: Listening, wanted: Wanted) {
    const { site, credentials, resources, pauseMs } = listening;
    this.#listening = listening;
    this.#wanted = wanted;
    this.#watch = new ResourceWatch({
      executor: site.executor,
      onInternal: site.onInternal,
      resources,
      credentials,
      ...wanted,
      changed: (uri) => this.#tell(uri),
      ended: (why) => this.#end(why),
      ...(pauseMs !== undefined && { pauseMs }),
    });
  }

  async start(): Promise<void> {
    const { site } = this.#listening;
    if (site.signal.aborted) this.#stop();
    site.signal.addEventListener('abort', () => this.#stop(), { once: true });
    await this.#watch.start(site.caller);
  }

  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (controller) => this.#open(controller),
      cancel: () => this.#stop(),
    });
  }

  #open(controller: ReadableStreamDefaultController<Uint8Array>): void {
    // The client may have left while it was looked for the first time.
    if (this.#listening.site.signal.aborted) return controller.close();
    this.#controller = controller;
    const { list, uris } = this.#wanted;
    this.#notify('notifications/subscriptions/acknowledged', {
      notifications: {
        ...(list && { resourcesListChanged: true }),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
      },
    });
    if (this.#last !== null) return this.#close(this.#last);
    this.#ticker = setInterval(() => {
      this.#send(KEEP_ALIVE);
      // A gateway that cannot say whether the key still holds is asked again.
      this.#watch.check().catch(() => null);
    }, this.#listening.tickMs);
  }

  #tell(uri: string | null): void {
    if (uri === null) this.#notify('notifications/resources/list_changed', {});
    else this.#notify('notifications/resources/updated', { uri });
  }

  #notify(method: string, params: object): void {
    const tagged = { ...params, _meta: { [META_SUBSCRIPTION]: this.#listening.id } };
    this.#send(event(JSON.stringify({ jsonrpc: '2.0', method, params: tagged })));
  }

  #send(text: string): void {
    if (!this.#controller) return;
    this.#controller.enqueue(this.#encoder.encode(text));
    if ((this.#controller.desiredSize ?? 0) < -WAITING_MAX) this.#drop();
  }

  /** The answer of the request is the last of its stream. */
  #end(why: ServiceError | null): void {
    const { id, closed } = this.#listening;
    const json =
      why === null
        ? closed
        : errorJson(id, {
            code: why.status,
            message: why.line(),
            data: { ...why.details, code: why.code },
          });
    if (this.#controller) this.#close(json);
    else this.#last = json;
  }

  #close(json: string): void {
    this.#send(event(json));
    const controller = this.#controller;
    this.#stop();
    controller?.close();
  }

  #drop(): void {
    const controller = this.#controller;
    this.#stop();
    controller?.error(new Error('The client reads too slowly.'));
  }

  #stop(): void {
    clearInterval(this.#ticker);
    this.#controller = null;
    this.#watch.stop();
  }
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
