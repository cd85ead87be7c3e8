import { askWith, confirmed, type Ask } from './ask.ts';
import { HttpCaller, type Target } from './call/http-caller.ts';
import type { CallOptions, RunOperation } from './call/endpoint.ts';
import { operationRunner } from './call/run.ts';
import { gatewayTransport } from './call/transport.ts';
import type { Caller } from './core/caller.ts';
import { machineClock, type Clock } from './core/clock.ts';
import { errorOf } from './errors.ts';
import { EventFeed, type EventFilter } from './core/event-feed.ts';
import { fileOrNull, readFile, writeFile, type SaveOptions } from './files.ts';
import { whileLocked, type LockOptions } from './lock.ts';
import { Methods } from './generated/methods.ts';
import { keptOnce } from './once.ts';
import { noteToConsole } from './note.ts';
import { ENDPOINTS } from './generated/endpoints.ts';
import type {
  EmailSendInput,
  FileGetInput,
  FileGetAnswer,
  FilePutAnswer,
  InboxWaitInput,
  InboxWaitAnswer,
  PolicySetInput,
} from './generated/types.ts';
import { refuseUnknown } from './work/filter.ts';
import type { PayloadSchema } from './work/payload.ts';
import { work, type Handler, type WorkOptions } from './work/worker.ts';

/** What a client is made with. Everything is found by itself, as the `svc` command does it. */
export interface SvcOptions {
  /** The API key (default: SVC_API_KEY, otherwise the stored profile's). */
  readonly apiKey?: string | undefined;
  /** The gateway's address (default: SVC_GATEWAY, the stored profile's, or this machine's daemon). */
  readonly gateway?: string | URL | undefined;
  /** The name of a stored profile (default: the current one). */
  readonly profile?: string | undefined;
  /** The caller's name, for the ledger and for the people it asks (default: SVC_AGENT). */
  readonly agent?: string | undefined;
  /** How long a try may take, in milliseconds (default 30 s). */
  readonly timeout?: number | undefined;
  /** How often a call is tried again that failed only for now (default 3). */
  readonly maxRetries?: number | undefined;
  /** Takes the place of the global `fetch`, and of what calls this machine. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Takes the place of the environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Gets what a person should know, such as an outage (default: the console's warnings). */
  readonly note?: ((text: string) => void) | undefined;
}

const WAIT_KEYS = ['source', 'type', 'mine', 'since', 'after', 'timeout'];

type WaitedEvent = NonNullable<InboxWaitAnswer['event']>;

/** Which event to wait for, and for how long, in milliseconds (default: until there is one). */
export type WaitInput = Omit<InboxWaitInput, 'timeout_seconds'> & { readonly timeout?: number };

/** The inbox, people, the disk, mail and the ledger of a project. */
export class Svc extends Methods {
  readonly ask: Ask;
  declare readonly inbox: Methods['inbox'] & {
    /** Waits for the first pending event, through outages. Null when the time is up; nothing is lost then. */
    wait(input?: WaitInput, options?: Pick<CallOptions, 'signal'>): Promise<WaitedEvent | null>;
  };
  declare readonly file: Methods['file'] & {
    /** The record of a file, with its bytes or a link to them; null if there's none. */
    get(input: FileGetInput, options?: CallOptions): Promise<FileGetAnswer | null>;
    /** The bytes of a file of any size; null if there's none. */
    read(path: string, options?: CallOptions): Promise<Uint8Array | null>;
    /** Saves a file of up to 100 MB. */
    write(
      path: string,
      content: string | Uint8Array,
      options?: SaveOptions,
    ): Promise<FilePutAnswer>;
  };
  readonly #deps: {
    readonly caller: Caller;
    readonly run: RunOperation;
    readonly clock: Clock;
    readonly note: (text: string) => void;
  };

  constructor(options: SvcOptions = {}, caller = callerOf(options), clock = machineClock) {
    const run = operationRunner(caller, options, clock);
    super(run);
    const { note = noteToConsole, fetch = globalThis.fetch } = options;
    this.#deps = { caller, run, clock, note };
    this.ask = askWith(this.#deps);
    Object.assign(this.inbox, {
      wait: (input?: WaitInput, call?: CallOptions) => this.#wait(input, call),
    });
    Object.assign(this.policy, {
      set: (input: PolicySetInput, call?: CallOptions) =>
        confirmed(this.#deps, ENDPOINTS.policy_set, input, call),
    });
    Object.assign(this.email, {
      send: (input: EmailSendInput, call?: CallOptions) =>
        confirmed(this.#deps, ENDPOINTS.email_send, input, call),
    });
    Object.assign(this.file, {
      get: (input: FileGetInput, call?: CallOptions) => fileOrNull(run, input, call),
      read: (path: string, call?: CallOptions) => readFile({ run, fetch }, path, call),
      write: (path: string, content: string | Uint8Array, call?: SaveOptions) =>
        writeFile({ run, fetch }, path, content, call),
    });
  }

  /**
   * Claims the events that match, and hands each to the handler, until it's stopped. Sits out outages; throws what no
   * waiting cures, such as a revoked key. Without a schema as `payload`, the handler's payload is `unknown`.
   */
  work<P>(
    filter: EventFilter,
    handler: Handler<NoInfer<P>>,
    options: WorkOptions<P> & { readonly payload: PayloadSchema<P> },
  ): Promise<void>;
  work(filter: EventFilter, handler: Handler, options?: WorkOptions): Promise<void>;
  work<P>(filter: EventFilter, handler: Handler<P>, options?: WorkOptions<P>): Promise<void> {
    return work(this.#deps, filter, handler, options);
  }

  /**
   * Runs a step once per key, and returns what the first run returned, as JSON. In a handler, `ctx.once` takes the
   * event as the key.
   */
  once<T>(
    name: string,
    step: () => T | Promise<T>,
    { key, ...options }: CallOptions & { readonly key: string },
  ): Promise<T> {
    return keptOnce(this.#deps.run, { scope: key, name }, step, options);
  }

  /** Runs something while this program alone holds the lock; its signal fires if the lock is lost. */
  lock<T>(
    name: string,
    task: (signal: AbortSignal) => T | Promise<T>,
    options: LockOptions = {},
  ): Promise<T> {
    return whileLocked(this.#deps, name, options, task);
  }

  async #wait(
    input: WaitInput = {},
    { signal = new AbortController().signal }: CallOptions = {},
  ): Promise<WaitedEvent | null> {
    refuseUnknown(input, WAIT_KEYS);
    const { timeout = Infinity, ...filter } = input;
    const { caller, clock, note } = this.#deps;
    const feed = new EventFeed({ ...filter, client: caller, signal, trouble: note, clock });
    const dueAt = clock.now() + timeout;
    for (;;) {
      const leftMs = dueAt - clock.now();
      if (leftMs <= 0) return null;
      const seconds = Math.min(60, Math.max(1, Math.ceil(leftMs / 1000)));
      const waited = await feed.next({ ...filter, seconds });
      signal.throwIfAborted();
      if (waited?.event) return waited.event as unknown as WaitedEvent;
    }
  }
}

/** Looks for what isn't given, once a call is made. */
function callerOf(options: SvcOptions): Caller {
  const { apiKey, gateway, fetch, note = noteToConsole } = options;
  const agent = options.agent ?? (options.env ?? globalThis.process?.env)?.['SVC_AGENT'];
  const find = async (): Promise<Target> => {
    if (apiKey !== undefined && gateway !== undefined && options.profile === undefined) {
      const url = new URL(gateway);
      return { gateway: url, apiKey, transport: await gatewayTransport(url, fetch) };
    }
    const { findTarget } = await import('./node/find.ts');
    return findTarget(options);
  };
  return new HttpCaller({ find, name: 'svc-client-typescript', agent, errorOf, note });
}
