import type { Admission } from '../../../shared/admission/admission.ts';
import { callerWith, findKey, presentedKey } from '../../../shared/kernel/authentication.ts';
import type { Caller } from '../../../shared/kernel/context.ts';
import { ServiceError, unavailable, type ErrorCode } from '../../../shared/lib/errors.ts';
import type { Answer, Credentials, Executor, Follower } from '../../../shared/kernel/executor.ts';
import { admit, mayWait, type Operation } from '../../../shared/kernel/operation.ts';
import { UpstreamError } from '../../upstream/upstream-error.ts';
import { UpstreamKeys } from '../../upstream/upstream-keys.ts';
import type { Upstream, UpstreamCall } from '../../upstream/upstream.ts';
import { STALE_MAX_MS } from './freshness.ts';
import { PendingCalls } from './pending-calls.ts';
import { inAnOldCopy, runLocally, shortened, waitLocally, type LocalCall } from './local-call.ts';
import type { Replica } from '../replica.ts';

/** The parts of the replica that the executor uses. */
export type ReadableReplica = Pick<
  Replica,
  'freshness' | 'info' | 'keyCache' | 'noteWritten' | 'now' | 'pace' | 'settled' | 'store' | 'waits'
> & {
  readonly contact: Pick<
    Replica['contact'],
    'attend' | 'isPrompt' | 'isSilent' | 'noteAnswer' | 'noteLate' | 'noteSilence'
  >;
};

export interface ReplicaExecutorDeps {
  /** The daemon's only project. */
  readonly projectId: string;
  /** Null while the daemon has no replica. */
  readonly replica: () => ReadableReplica | null;
  readonly upstream: Pick<Upstream, 'call' | 'origin'>;
  readonly admission: Pick<Admission, 'asleep'>;
}

/** A caller, with the credentials to pass to the gateway. */
interface RelayedCaller extends Caller {
  readonly credentials: Credentials;
  /** True if the replica has the key: it answers only those callers. */
  readonly isInCopy: boolean;
}

interface Call extends LocalCall {
  readonly caller: RelayedCaller;
  readonly input: unknown;
}

/** A replica that may answer. */
interface Readable {
  readonly replica: ReadableReplica;
  /** True if we know that the gateway doesn't answer. */
  readonly stale: boolean;
}

/**
 * How often, and for how long each time, a read waits for this daemon's own writes before it goes to the gateway. In
 * between it makes sure that the gateway still answers.
 */
const SETTLE_STEPS = 10;
const SETTLE_STEP_MS = 100;
/** How long a read waits for the gateway if the replica can answer in its place. */
const PATIENCE_MS = 200;
/** The same for a read that would miss what this daemon wrote. */
const OWN_PATIENCE_MS = 2_000;
/** Refusals before any commit. The gateway writes all others to the ledger, and the replica may not know them yet. */
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
/** The replica's errors for an id that it doesn't have yet. */
const UNKNOWN_CODES: ReadonlySet<ErrorCode> = new Set(['NOT_FOUND', 'VALIDATION_FAILED']);
/** After these operations, a key may belong to another caller, or to nobody. */
const CHANGES_CALLERS: ReadonlySet<string> = new Set([
  'key_create',
  'key_revoke',
  'key_rotate',
  'session_hello',
]);

/**
 * Answers what it can from the replica on this machine, and passes the rest to the gateway: every write, and every read
 * while the replica may be incomplete.
 */
export class ReplicaExecutor implements Executor {
  readonly #deps: ReplicaExecutorDeps;
  readonly #keys: UpstreamKeys;
  readonly #held = new PendingCalls();
  /** The number of writes that changed callers, and how many of them the replica has. */
  #callerWrites = 0;
  #callerWritesSeen = 0;

  constructor(deps: ReplicaExecutorDeps) {
    this.#deps = deps;
    this.#keys = new UpstreamKeys({ call: (call) => this.#callUpstream(call) });
  }

  /** Throws UNAUTHENTICATED, also for another project's key; UNAVAILABLE if only the gateway could tell. */
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

  /** Local reads cost nothing, and the gateway counts the calls that reach it. */
  meter(): Readonly<Record<string, string>> {
    return {};
  }

  async execute(
    operation: Operation,
    input: unknown,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Answer> {
    const checked = admit(operation, input, caller);
    const call = { operation, input, checked, caller: relayed(caller), signal };
    if (operation.effect === 'write') return this.#write(call);
    const isLocal = operation.replica === 'local' && call.caller.isInCopy;
    return isLocal ? this.#nearest(call) : this.#ask(call);
  }

  /** Needs a replica that follows the gateway: otherwise the daemon hears of no changes. UNAVAILABLE without one. */
  async follow(caller: Caller, follower: Follower): Promise<() => void> {
    const replica = this.#deps.replica();
    if (!replica?.store || replica.freshness().usable !== 'live') throw unavailable(5);
    return replica.waits.follow(caller.keyId, follower);
  }

  /** Ends all waits: local ones as if they timed out, those at the gateway with UNAVAILABLE. */
  endWaits(): void {
    this.#deps.replica()?.waits.close();
    this.#held.end();
  }

  /**
   * Asks the replica if it may answer, else the gateway, and the replica all the same if the gateway is late: no read
   * waits for a connection.
   */
  async #nearest(call: Call): Promise<Answer> {
    const startedAt = performance.now();
    const left = (): Call => shortened(call, performance.now() - startedAt);
    this.#deps.replica()?.contact.attend();
    const { readable, patienceMs } = await this.#readable();
    const found = readable && (await this.#found(call, readable));
    if (found) return found;
    try {
      return await this.#ask(left(), this.#inItsPlace() ? patienceMs : undefined);
    } catch (error) {
      const stale = isSilent(error) ? this.#inItsPlace() : null;
      if (!stale) throw error;
      return this.#local(left(), stale);
    }
  }

  /** The replica's answer; null if it went away during the call, or is a moment behind: ask the gateway then. */
  async #found(call: Call, readable: Readable): Promise<Answer | null> {
    try {
      return await this.#local(call, readable);
    } catch (error) {
      if (isSilent(error)) return null;
      if (readable.stale || !mayBeBehind(error)) throw error;
      if (!readable.replica.contact.isSilent) return null;
      return this.#local(call, { ...readable, stale: true });
    }
  }

  async #local(call: Call, { replica, stale }: Readable): Promise<Answer> {
    const run = mayWait(call.operation) && !stale ? waitLocally : runLocally;
    const value = await run(call, replica).catch((error: unknown) => {
      const { ageMs } = replica.freshness();
      throw stale && mayBeBehind(error) ? inAnOldCopy(error, ageMs) : error;
    });
    const { ageMs, usable } = replica.freshness();
    // The replica went away meanwhile, so nobody knows the age of this answer.
    if (!Number.isFinite(ageMs)) throw unavailable(1);
    // A wait may outlive the outage in which it began: it has read the newer data since.
    const wasStale = stale && !mayWait(call.operation);
    return { value, replica: { ageMs, stale: wasStale || usable !== 'live' } };
  }

  /** The replica if it may answer now; else how long the gateway has to answer before the replica does all the same. */
  async #readable(): Promise<{ readonly readable: Readable | null; readonly patienceMs: number }> {
    const replica = this.#deps.replica();
    if (!replica?.store) return { readable: null, patienceMs: PATIENCE_MS };
    const { contact } = replica;
    const isLate = replica.freshness().usable === 'no';
    const hasOwn = isLate ? await replica.settled(0) : await settles(replica);
    if (hasOwn && !isLate) {
      const stale = replica.freshness().usable === 'stale';
      return { readable: { replica, stale }, patienceMs: PATIENCE_MS };
    }
    if (hasOwn ? contact.isSilent : !(await contact.isPrompt())) {
      return { readable: this.#inItsPlace(), patienceMs: PATIENCE_MS };
    }
    return { readable: null, patienceMs: hasOwn ? PATIENCE_MS : OWN_PATIENCE_MS };
  }

  /** The same for a key lookup, which has to wait only for writes that changed callers. */
  async #readableForKeys(): Promise<Readable | null> {
    const inItsPlace = this.#inItsPlace();
    const writes = this.#callerWrites;
    if (!inItsPlace || writes === this.#callerWritesSeen) return inItsPlace;
    const { readable } = await this.#readable();
    if (readable && !readable.stale) this.#callerWritesSeen = writes;
    return readable;
  }

  /** The replica that answers for a silent gateway; null if it's too old. */
  #inItsPlace(): Readable | null {
    const replica = this.#deps.replica();
    if (!replica?.store || replica.freshness().ageMs > STALE_MAX_MS) return null;
    return { replica, stale: true };
  }

  /** Null if the replica lacks the key. Throws KEY_REVOKED or UNAUTHENTICATED for an invalid key. */
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
    // A token is for an address of the gateway, not for this one.
    const here = { projectId, credentials: { ...credentials, mcp: undefined }, now };
    return { ...callerWith(found, here), credentials, isInCopy: true };
  }

  /** Notes the position of the write, so that later reads through this daemon see it. */
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
    const limited = {
      ...call,
      ...(timeoutMs !== undefined && operation.effect === 'read' && { timeoutMs }),
    };
    return mayWait(operation)
      ? this.#held.run(signal, (held) => this.#callUpstream({ ...limited, signal: held }))
      : this.#callUpstream(limited);
  }

  /** Any answer, even an error, shows that the gateway is there. */
  async #callUpstream(call: UpstreamCall): Promise<Answer> {
    this.#deps.admission.asleep(call.credentials.requestId);
    const contact = (): ReadableReplica['contact'] | undefined => this.#deps.replica()?.contact;
    const startedAt = performance.now();
    const tookMs = (): number | null =>
      mayWait(call.operation) ? null : performance.now() - startedAt;
    try {
      const answer = await this.#deps.upstream.call(call);
      contact()?.noteAnswer(tookMs());
      return answer;
    } catch (error) {
      if (!(error instanceof UpstreamError)) {
        if (error instanceof ServiceError) contact()?.noteAnswer(tookMs());
      } else if (call.timeoutMs === undefined) contact()?.noteSilence();
      else contact()?.noteLate();
      throw error;
    }
  }
}

/** True as soon as the replica has this daemon's own writes, for which it waits while the gateway answers in time. */
async function settles(replica: ReadableReplica): Promise<boolean> {
  if (await replica.settled(0)) return true;
  for (let step = 0; step < SETTLE_STEPS && (await replica.contact.isPrompt()); step += 1) {
    if (await replica.settled(SETTLE_STEP_MS)) return true;
  }
  return false;
}

/** Bindings pass back the caller from `authenticate`, or a copy with more fields. */
function relayed(caller: Caller): RelayedCaller {
  if ('credentials' in caller && 'isInCopy' in caller) return caller as RelayedCaller;
  throw new Error('This caller was not checked here.');
}

/** True if the write may have committed something, or the gateway's state may differ from the replica's. */
function mayHaveChanged(error: unknown): boolean {
  if (error instanceof UpstreamError) return error.mayHaveArrived;
  return !(error instanceof ServiceError && UNCOMMITTED_CODES.has(error.code));
}

/** True if nobody could answer: neither a refusal nor a fault of ours. */
function isSilent(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'UNAVAILABLE';
}

/** True for an unknown id: the caller may have it from somewhere newer than the replica. */
function mayBeBehind(error: unknown): error is ServiceError {
  return error instanceof ServiceError && UNKNOWN_CODES.has(error.code);
}

function nothingIfLost(error: unknown): null {
  if (isSilent(error)) return null;
  throw error;
}
