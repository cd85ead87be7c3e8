import { callerWith, findKey, presentedKey } from '../../shared/kernel/authentication.ts';
import type { Caller } from '../../shared/kernel/context.ts';
import { ServiceError, unavailable, type ErrorCode } from '../../shared/lib/errors.ts';
import type { Answer, Credentials, Executor, Follower } from '../../shared/kernel/executor.ts';
import { admit, mayWait, type Operation } from '../../shared/kernel/operation.ts';
import { UpstreamFailed } from '../upstream/upstream-failed.ts';
import { UpstreamKeys } from '../upstream/upstream-keys.ts';
import type { Upstream, UpstreamCall } from '../upstream/upstream.ts';
import { STALE_MAX_MS } from './freshness.ts';
import { PendingCalls } from './pending-calls.ts';
import { inAnOldCopy, runLocally, shortened, waitLocally, type LocalCall } from './local-call.ts';
import type { Replica } from './replica.ts';

/** What is asked of the copy. */
export type ReadableReplica = Pick<
  Replica,
  | 'freshness'
  | 'info'
  | 'keyCache'
  | 'noteAnswer'
  | 'noteSilence'
  | 'noteWritten'
  | 'now'
  | 'settled'
  | 'store'
  | 'waits'
>;

export interface ReplicaExecutorDeps {
  /** The project of this daemon: it has no other. */
  readonly projectId: string;
  /** Null while the daemon runs without a copy. */
  readonly replica: () => ReadableReplica | null;
  readonly upstream: Pick<Upstream, 'call' | 'origin'>;
}

/** Who calls, with what goes on to the gateway. */
interface RelayedCaller extends Caller {
  readonly credentials: Credentials;
  /** Whether the copy has the key: it answers nobody else. */
  readonly isInCopy: boolean;
}

interface Call extends LocalCall {
  readonly caller: RelayedCaller;
  readonly input: unknown;
}

/** A copy that may answer. */
interface Readable {
  readonly replica: ReadableReplica;
  /** The gateway is known not to answer. */
  readonly stale: boolean;
}

/** How long a read waits for what was written through this daemon, before it goes to the gateway. */
const SETTLE_MS = 1_000;
/** So long a read waits for a gateway that may be away, while the copy could answer in its place. */
const PATIENCE_MS = 5_000;
/** The same where the gateway was away a moment ago. */
const AWAY_PATIENCE_MS = 1_000;
/** Refusals before anything is committed. All others tell of a state that the copy may not know, and the ledger has them. */
const UNCOMMITTED_CODES: ReadonlySet<ErrorCode> = new Set([
  'METHOD_NOT_ALLOWED',
  'KEY_REVOKED',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
  'SCOPE_MISSING',
  'UNAUTHENTICATED',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_FAILED',
]);
/** What a copy says of an id that it does not have yet. */
const UNKNOWN_CODES: ReadonlySet<ErrorCode> = new Set(['NOT_FOUND', 'VALIDATION_FAILED']);
/** After these another caller may be behind the same key, or none. */
const CHANGES_CALLERS: ReadonlySet<string> = new Set([
  'key_create',
  'key_revoke',
  'key_rotate',
  'session_hello',
]);

/**
 * Answers what it can from a copy of the project on this machine, and passes the rest to the gateway: every write, and
 * every read while the copy may not have all there is.
 */
export class ReplicaExecutor implements Executor {
  readonly #deps: ReplicaExecutorDeps;
  readonly #keys: UpstreamKeys;
  readonly #held = new PendingCalls();
  /** Writes that changed who callers are: how many, and how many of them the copy has. */
  #callerWrites = 0;
  #callerWritesSeen = 0;

  constructor(deps: ReplicaExecutorDeps) {
    this.#deps = deps;
    this.#keys = new UpstreamKeys({ call: (call) => this.#callUpstream(call) });
  }

  /** UNAUTHENTICATED for a key of another project, too. UNAVAILABLE when only the gateway could say. */
  async authenticate(credentials: Credentials): Promise<RelayedCaller> {
    const { projectId, hash } = presentedKey(credentials);
    if (projectId !== this.#deps.projectId) {
      throw new ServiceError('UNAUTHENTICATED', {
        hint: `This daemon serves the project ${this.#deps.projectId}; the key is for another one.`,
      });
    }
    const inCopy = await this.#findInCopy(await this.#readableForKeys(), hash, credentials);
    if (inCopy) return inCopy;
    try {
      const caller = await this.#keys.find(credentials, hash);
      return { ...caller, credentials, isInCopy: false };
    } catch (error) {
      const readable = isSilent(error) ? this.#inItsPlace() : null;
      const stale = await this.#findInCopy(readable, hash, credentials);
      if (!stale) throw error;
      return stale;
    }
  }

  /** Local reads are free, and the gateway counts the calls that reach it. */
  meter(): Readonly<Record<string, string>> {
    return {};
  }

  async execute(
    operation: Operation,
    input: unknown,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Answer> {
    const checked = admit(operation, input, caller.scopes);
    const call = { operation, input, checked, caller: relayed(caller), signal };
    if (operation.effect === 'write') return this.#write(call);
    const isLocal = operation.replica === 'local' && call.caller.isInCopy;
    return isLocal ? this.#nearest(call) : this.#ask(call);
  }

  /** By a copy that hears from the gateway: without one nobody here is told of changes. */
  async follow(caller: Caller, follower: Follower): Promise<() => void> {
    const replica = this.#deps.replica();
    if (!replica?.store || replica.freshness().usable !== 'live') throw unavailable(5);
    return replica.waits.follow(caller.keyId, follower);
  }

  /** Ends what waits: at the copy as at its timeout, at the gateway with UNAVAILABLE. */
  endWaits(): void {
    this.#deps.replica()?.waits.close();
    this.#held.end();
  }

  /** The copy where it may answer, else the gateway, else the copy as it is. */
  async #nearest(call: Call): Promise<Answer> {
    const startedAt = performance.now();
    const left = (): Call => shortened(call, performance.now() - startedAt);
    const readable = await this.#readable();
    if (readable) {
      try {
        return await this.#local(call, readable);
      } catch (error) {
        // The copy was lost under the call, or it is a moment behind: the gateway knows.
        if (!isSilent(error) && (readable.stale || !mayBeBehind(error))) throw error;
      }
    }
    try {
      return await this.#ask(left(), this.#timeoutMs());
    } catch (error) {
      const stale = isSilent(error) ? this.#inItsPlace() : null;
      if (!stale) throw error;
      return this.#local(left(), stale);
    }
  }

  async #local(call: Call, { replica, stale }: Readable): Promise<Answer> {
    const run = mayWait(call.operation) && !stale ? waitLocally : runLocally;
    const value = await run(call, replica).catch((error: unknown) => {
      const { ageMs } = replica.freshness();
      throw stale && mayBeBehind(error) ? inAnOldCopy(error, ageMs) : error;
    });
    const { ageMs, usable } = replica.freshness();
    // It was lost meanwhile, and with it how old the answer is.
    if (!Number.isFinite(ageMs)) throw unavailable(1);
    // A wait may outlive the outage it began in: it looked again at all that came since.
    const wasStale = stale && !mayWait(call.operation);
    return { value, replica: { ageMs, stale: wasStale || usable !== 'live' } };
  }

  /** How long the gateway may be silent; undefined where nobody else can answer. */
  #timeoutMs(): number | undefined {
    const inItsPlace = this.#inItsPlace();
    if (!inItsPlace) return undefined;
    return inItsPlace.replica.freshness().usable === 'stale' ? AWAY_PATIENCE_MS : PATIENCE_MS;
  }

  /** The copy when it may answer now. Without what was written through this daemon, the gateway is to be asked first. */
  async #readable(): Promise<Readable | null> {
    const replica = this.#deps.replica();
    const { usable } = replica?.freshness() ?? { usable: 'no' };
    if (!replica?.store || usable === 'no') return null;
    const stale = usable === 'stale';
    return (await replica.settled(stale ? 0 : SETTLE_MS)) ? { replica, stale } : null;
  }

  /** The same to look a key up, which has to wait for few writes only. */
  async #readableForKeys(): Promise<Readable | null> {
    const replica = this.#deps.replica();
    if (!replica?.store || replica.freshness().usable === 'no') return null;
    const writes = this.#callerWrites;
    if (writes === this.#callerWritesSeen) return { replica, stale: false };
    const readable = await this.#readable();
    if (readable && !readable.stale) this.#callerWritesSeen = writes;
    return readable;
  }

  /** The copy in the place of a gateway that did not answer, unless it is too old. */
  #inItsPlace(): Readable | null {
    const replica = this.#deps.replica();
    if (!replica?.store || replica.freshness().ageMs > STALE_MAX_MS) return null;
    return { replica, stale: true };
  }

  /** Null where the copy does not have the key. KEY_REVOKED or UNAUTHENTICATED where it is no good. */
  async #findInCopy(
    readable: Readable | null,
    hash: string,
    credentials: Credentials,
  ): Promise<RelayedCaller | null> {
    const { replica } = readable ?? {};
    if (!replica?.store) return null;
    const now = replica.now();
    const { keyCache, store } = replica;
    const found = await findKey({ keyCache, store }, hash, now).catch(nothingIfLost);
    if (!found?.key) return null;
    const { projectId } = this.#deps;
    return { ...callerWith(found, { projectId, credentials, now }), credentials, isInCopy: true };
  }

  /** Notes how far the project is afterwards, so that reads through this daemon see what was written. */
  async #write(call: Call): Promise<Answer> {
    try {
      const answer = await this.#ask(call);
      this.#noteWritten(call.operation, answer.position ?? null);
      return answer;
    } catch (error) {
      if (mayHaveChanged(error)) this.#noteWritten(call.operation, null);
      throw error;
    }
  }

  #noteWritten({ name }: Operation, position: number | null): void {
    this.#deps.replica()?.noteWritten(position);
    if (!CHANGES_CALLERS.has(name)) return;
    this.#callerWrites += 1;
    this.#keys.forget();
  }

  #ask({ operation, input, caller, signal }: Call, timeoutMs?: number): Promise<Answer> {
    const { credentials } = caller;
    const call = { operation, input, caller, credentials, signal };
    return mayWait(operation)
      ? this.#held.run(signal, (held) => this.#callUpstream({ ...call, signal: held }))
      : this.#callUpstream({ ...call, ...(timeoutMs !== undefined && { timeoutMs }) });
  }

  /** Whatever the gateway answers, it is there. */
  async #callUpstream(call: UpstreamCall): Promise<Answer> {
    try {
      const answer = await this.#deps.upstream.call(call);
      this.#deps.replica()?.noteAnswer();
      return answer;
    } catch (error) {
      if (error instanceof UpstreamFailed) this.#deps.replica()?.noteSilence();
      else if (error instanceof ServiceError) this.#deps.replica()?.noteAnswer();
      throw error;
    }
  }
}

/** Bindings hand back what `authenticate` gave them, or a copy with more in it. */
function relayed(caller: Caller): RelayedCaller {
  if ('credentials' in caller && 'isInCopy' in caller) return caller as RelayedCaller;
  throw new Error('This caller was not checked here.');
}

/** Whether there may be something at the gateway that was not there before the write, or not known here. */
function mayHaveChanged(error: unknown): boolean {
  if (error instanceof UpstreamFailed) return error.mayHaveArrived;
  return !(error instanceof ServiceError && UNCOMMITTED_CODES.has(error.code));
}

/** Nobody could answer: neither a refusal nor a fault of ours. */
function isSilent(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'UNAVAILABLE';
}

/** Nothing is known by this id, which the caller may have from somewhere else. */
function mayBeBehind(error: unknown): error is ServiceError {
  return error instanceof ServiceError && UNKNOWN_CODES.has(error.code);
}

function nothingIfLost(error: unknown): null {
  if (isSilent(error)) return null;
  throw error;
}
