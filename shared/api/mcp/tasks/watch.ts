import type { Caller, Change } from '../../../kernel/context.ts';
import { asServiceError, type ServiceError } from '../../../lib/errors.ts';
import type { Credentials, Executor } from '../../../kernel/executor.ts';
import type { CallSite, ResourceTable, Topic } from '../tables.ts';

/** The least time between two notifications, however much happens. */
const PAUSE_MS = 500;
/**
 * After each look, the watch rests this many times as long as the look took, so that many watches together leave most
 * of the time to other work.
 */
const REST_FACTOR = 4;
const REST_MAX_MS = 10_000;
/** How soon to retry after a failed look. */
const FAILED_MS = 5_000;
const BOTH: readonly Topic[] = ['disk', 'inbox'];

export interface WatchDeps {
  readonly executor: Executor;
  readonly resources: ResourceTable;
  readonly credentials: Credentials;
  /** The URIs to report changes of. */
  readonly uris: readonly string[];
  /** Whether to report changes of the list. */
  readonly list: boolean;
  /** Reports a changed URI; null means the list. */
  readonly changed: (uri: string | null) => void;
  /** Gets every change, unlooked at; null means something changed, but it's unknown what. */
  readonly noted?: (change: Change | null) => void;
  /** Called when the watch ends: null if the server ends, otherwise the reason. */
  readonly ended: (why: ServiceError | null) => void;
  readonly onInternal: CallSite['onInternal'];
  readonly pauseMs?: number;
}

/**
 * Looks at resources after changes that may concern them, and reports those that really changed. Checks the key before
 * each look, so an invalid key learns nothing.
 */
export class ResourceWatch {
  readonly #deps: WatchDeps;
  readonly #gone = new AbortController();
  readonly #marks = new Map<string, string | null>();
  #topics = new Set<Topic>();
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  #lookedAt = 0;
  #restedAt = 0;
  #leave: (() => void) | null = null;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /**
   * Subscribes first and then takes the first look, so that no change gets lost in between. Rejects as
   * `Executor.follow` does.
   */
  async start(caller: Caller): Promise<void> {
    const { executor, uris } = this.#deps;
    const leave = await executor.follow(caller, {
      changed: (change) => this.#note(change),
      ended: (code) => void this.#stopped(code),
    });
    if (this.#gone.signal.aborted) return leave();
    this.#leave = leave;
    this.#isLooking = true;
    try {
      for (const uri of uris) this.#marks.set(uri, await this.#mark(uri, caller));
    } catch (error) {
      this.stop();
      throw error;
    } finally {
      this.#isLooking = false;
    }
    this.#lookSoon();
  }

  /** You can call it more than once. */
  stop(): void {
    this.#gone.abort();
    if (this.#timer) clearTimeout(this.#timer);
    this.#leave?.();
    this.#leave = null;
  }

  /** Ends the watch if the key is no longer valid; call it from time to time. */
  async check(): Promise<void> {
    await this.#caller();
  }

  #note(change: Change | null): void {
    this.#deps.noted?.(change);
    for (const topic of topicsOf(change)) this.#topics.add(topic);
    this.#lookSoon();
  }

  #lookSoon(atLeastMs = 0): void {
    if (this.#topics.size === 0 || this.#timer || this.#isLooking || this.#gone.signal.aborted) {
      return;
    }
    const pauseMs = this.#deps.pauseMs ?? PAUSE_MS;
    const dueAt = Math.max(this.#lookedAt + pauseMs, this.#restedAt);
    const inMs = Math.max(atLeastMs, dueAt - performance.now());
    this.#timer = setTimeout(() => void this.#look(), inMs);
  }

  async #look(): Promise<void> {
    this.#timer = null;
    this.#isLooking = true;
    this.#lookedAt = performance.now();
    const topics = this.#topics;
    this.#topics = new Set();
    let againMs = 0;
    try {
      const caller = await this.#caller();
      if (caller) await this.#tell(topics, caller);
    } catch (error) {
      // Look at these topics again later: the source of the failure may be back by then.
      for (const topic of topics) this.#topics.add(topic);
      againMs = FAILED_MS;
      if (asServiceError(error).code === 'INTERNAL') {
        this.#deps.onInternal(error, this.#deps.credentials.requestId);
      }
    } finally {
      const now = performance.now();
      this.#restedAt = now + Math.min(REST_MAX_MS, REST_FACTOR * (now - this.#lookedAt));
      this.#isLooking = false;
      this.#lookSoon(againMs);
    }
  }

  async #tell(topics: ReadonlySet<Topic>, caller: Caller): Promise<void> {
    const { resources, list, changed } = this.#deps;
    const { signal } = this.#gone;
    const isOfList = resources.listTopics(caller.scopes).some((topic) => topics.has(topic));
    if (list && isOfList) changed(null);
    for (const [uri, before] of this.#marks) {
      const topic = resources.topicOf(uri, caller.scopes);
      if (!topic || !topics.has(topic)) continue;
      const mark = await this.#mark(uri, caller);
      if (signal.aborted) return;
      if (mark === before) continue;
      this.#marks.set(uri, mark);
      changed(uri);
    }
  }

  #mark(uri: string, caller: Caller): Promise<string | null> {
    const { executor, resources, onInternal } = this.#deps;
    return resources.mark(uri, { executor, caller, signal: this.#gone.signal, onInternal });
  }

  /** The caller with the key's current state; null if that has ended the watch. */
  async #caller(): Promise<Caller | null> {
    try {
      const caller = await this.#deps.executor.authenticate(this.#deps.credentials);
      return this.#gone.signal.aborted ? null : caller;
    } catch (error) {
      const why = asServiceError(error);
      if (why.status !== 401) throw why;
      this.#end(why);
      return null;
    }
  }

  /** For a revoked key, authenticating gives the exact error. */
  async #stopped(code: 'KEY_REVOKED' | 'UNAVAILABLE'): Promise<void> {
    if (code === 'KEY_REVOKED') await this.#caller().catch(() => null);
    this.#end(null);
  }

  #end(why: ServiceError | null): void {
    if (this.#gone.signal.aborted) return;
    this.stop();
    this.#deps.ended(why);
  }
}

function topicsOf(change: Change | null): readonly Topic[] {
  if (change === null) return BOTH;
  if (change.kind === 'disk') return ['disk'];
  return change.kind === 'request' ? [] : ['inbox'];
}
