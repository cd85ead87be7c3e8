import type { Caller, Change } from '../../kernel/context.ts';
import { asServiceError, type ServiceError } from '../../lib/errors.ts';
import type { Credentials, Executor } from '../../kernel/executor.ts';
import type { CallSite, ResourceTable, Topic } from './tables.ts';

/** However much happens, a subscriber is told this seldom. */
const PAUSE_MS = 500;
/** It rests so many times as long as its last look took, so that many of them together leave most of the time to others. */
const REST_FACTOR = 4;
const REST_MAX_MS = 10_000;
/** After a look that failed. */
const FAILED_MS = 5_000;
const BOTH: readonly Topic[] = ['disk', 'inbox'];

export interface WatchDeps {
  readonly executor: Executor;
  readonly resources: ResourceTable;
  readonly credentials: Credentials;
  /** The addresses whose changes are told. */
  readonly uris: readonly string[];
  /** Whether changes of the list are told. */
  readonly list: boolean;
  /** Null: the list. */
  readonly changed: (uri: string | null) => void;
  /** It is told nothing more: because the server ends, or for this reason. */
  readonly ended: (why: ServiceError | null) => void;
  readonly onInternal: CallSite['onInternal'];
  readonly pauseMs?: number;
}

/**
 * Looks at resources after changes that may have been theirs, and tells of those that are other ones than before. The
 * key is checked before each look, so nobody learns anything with one that is none any more.
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

  /** Listens, and then looks for the first time: nothing is missed in between. Rejects as `Executor.follow` does. */
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

  /** May be called more than once. */
  stop(): void {
    this.#gone.abort();
    if (this.#timer) clearTimeout(this.#timer);
    this.#leave?.();
    this.#leave = null;
  }

  /** Ends with the key: from time to time somebody has to look whether it is one. */
  async check(): Promise<void> {
    await this.#caller();
  }

  #note(change: Change | null): void {
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
      // What this change was about is looked at again, when whoever could not answer may be back.
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

  /** The caller as its key stands now; null where that has ended the watch. */
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

  /** A key that was revoked says so itself. */
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
